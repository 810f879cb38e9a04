package pii

import (
	"slices"
	"strconv"
	"strings"
)

// nirValid checks the 15 characters of a NIR (folded, no blanks): structure
// and key. Corsica's 2A and 2B count as 19 and 18 in the key.
func nirValid(s string) bool {
	if len(s) != 15 || !nirShaped(s) {
		return false
	}
	corsica := strings.NewReplacer("2a", "19", "2b", "18")
	body, err := strconv.ParseInt(s[:5]+corsica.Replace(s[5:7])+s[7:13], 10, 64)
	key, err2 := strconv.ParseInt(s[13:], 10, 64)
	return err == nil && err2 == nil && key == 97-body%97
}

// nirShaped checks what every NIR of 13 or 15 characters obeys: sex, month
// (also the pseudo-months 20 to 42 of incomplete births) and place. Thirteen
// digits without a key are also how an epoch in milliseconds looks, so there
// only real months count.
func nirShaped(s string) bool {
	if len(s) != 13 && len(s) != 15 || !strings.ContainsRune("123478", rune(s[0])) {
		return false
	}
	month, err := strconv.Atoi(s[3:5])
	if err != nil || month < 1 || month > 42 || month > 12 && (month < 20 || len(s) == 13) {
		return false
	}
	place := s[5:7]
	return place != "00" && s[7:10] != "000" && s[10:13] != "000"
}

// nirGroups are the ways people write a NIR; any other grouping is a row of
// numbers unless a label says otherwise.
var nirGroups = [][]int{
	{15}, {13, 2}, {1, 2, 2, 2, 3, 3, 2}, {1, 2, 2, 2, 3, 3}, {1, 2, 2, 2, 6, 2}, {1, 4, 2, 3, 3, 2}, {13},
	{1, 2, 2, 5, 3, 2}, {3, 3, 3, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
}

func nirGrouped(sizes []int) bool {
	return slices.ContainsFunc(nirGroups, func(g []int) bool { return slices.Equal(g, sizes) })
}

// ibanLengths of the countries whose accounts turn up here (SEPA).
var ibanLengths = map[string]int{
	"ad": 24, "at": 20, "be": 16, "bg": 22, "ch": 21, "cy": 28, "cz": 24, "de": 22, "dk": 18, "ee": 20,
	"es": 24, "fi": 18, "fr": 27, "gb": 22, "gi": 23, "gr": 27, "hr": 21, "hu": 28, "ie": 22, "is": 26,
	"it": 27, "li": 21, "lt": 20, "lu": 20, "lv": 21, "mc": 27, "mt": 31, "nl": 18, "no": 15, "pl": 28,
	"pt": 25, "ro": 24, "se": 24, "si": 19, "sk": 24, "sm": 27, "va": 22,
}

// digitsOnly are the countries whose account part holds no letters.
const digitsOnly = "at be cz de dk ee es fi hr hu is lt no pl pt se si sk"

// ibanPrefix reports whether s (folded, in one piece or in groups of four)
// starts with a valid IBAN; what follows in a sentence is not part of it.
func ibanPrefix(s string) bool {
	want, ok := ibanLengths[s[:2]]
	if !ok {
		return false
	}
	compact, rest := take(s, want)
	if len(compact) != want || rest != "" && rest[0] != ' ' {
		return false
	}
	if strings.Contains(digitsOnly, s[:2]) && strings.Trim(compact[4:], "0123456789") != "" {
		return false
	}
	return mod97(compact[4:]+compact[:4]) == 1
}

// take collects n characters of groups of four (or of one piece).
func take(s string, n int) (compact, rest string) {
	grouped := len(s) > 4 && s[4] == ' '
	for i := 0; i < len(s); i++ {
		if len(compact) == n {
			return compact, s[i:]
		}
		if s[i] != ' ' {
			compact += s[i : i+1]
		} else if !grouped || len(compact)%4 != 0 {
			return compact, s[i:]
		}
	}
	return compact, ""
}

func mod97(s string) int {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			n = (n*10 + int(c-'0')) % 97
		default:
			n = (n*100 + int(c-'a') + 10) % 97
		}
	}
	return n
}

// emailShaped refuses "tool@1.2.beta": a host of numbers is a version.
func emailShaped(s string) bool {
	host := s[strings.LastIndexByte(s, '@')+1:]
	labels := strings.Split(host, ".")
	for _, l := range labels[:len(labels)-1] {
		if strings.Trim(l, "0123456789") != "" {
			return true
		}
	}
	return len(labels) == 2
}
