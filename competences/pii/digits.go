package pii

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// group is a maximal run of ASCII digits in a folded text.
type group struct{ from, to int }

// number is one or more groups that may be one number: all separated by the
// same single character.
type number struct {
	from, to int
	digits   string
	sizes    []int
	sep      byte // 0 when there is one group
	whole    bool // no further group of the same separator beside it
}

// maxDigits is the length of the longest number the rules know, a NIR.
const maxDigits = 15

func groupsOf(s string) []group {
	var out []group
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		out = append(out, group{i, j})
		i = j
	}
	return out
}

// numbers yields every way to read neighbouring groups as one number of at most
// 15 digits, standing free in the text. The number is valid until the next one.
func numbers(s string) iter.Seq[number] {
	return func(yield func(number) bool) {
		gs := groupsOf(s)
		for i := range gs {
			if !from(s, gs, i, yield) {
				return
			}
		}
	}
}

// from yields the numbers that begin with group i; false when told to stop.
func from(s string, gs []group, i int, yield func(number) bool) bool {
	n := number{from: gs[i].from}
	for j := i; j < len(gs); j++ {
		if j > i && !joined(s, gs[j-1], gs[j], &n.sep) {
			return true
		}
		n.to = gs[j].to
		n.digits += s[gs[j].from:gs[j].to]
		n.sizes = append(n.sizes, gs[j].to-gs[j].from)
		if len(n.digits) > maxDigits {
			return true
		}
		n.whole = !extends(s, gs, i, j, n.sep)
		if free(s, n.from, n.to) && !yield(n) {
			return false
		}
	}
	return true
}

// joined reports whether two groups stand one separator apart, the same as
// before. Blank, dot and hyphen separate groups of one number.
func joined(s string, a, b group, sep *byte) bool {
	if b.from != a.to+1 || !strings.ContainsRune(" .-", rune(s[a.to])) {
		return false
	}
	if *sep != 0 && *sep != s[a.to] {
		return false
	}
	*sep = s[a.to]
	return true
}

// extends reports whether the groups i..j are part of a longer row of groups.
func extends(s string, gs []group, i, j int, sep byte) bool {
	if sep == 0 {
		return false
	}
	before, after := sep, sep
	return i > 0 && joined(s, gs[i-1], gs[i], &before) || j+1 < len(gs) && joined(s, gs[j], gs[j+1], &after)
}

// free reports that s[from:to] is no part of a longer token: no letter, digit
// or underscore touches it, and no decimal point, comma, colon or hyphen ties
// it to one.
func free(s string, from, to int) bool {
	if from > 0 && (wordByte(s[from-1]) || tie(s[from-1]) && from > 1 && isDigit(s[from-2])) {
		return false
	}
	if to < len(s) && (wordByte(s[to]) || tie(s[to]) && to+1 < len(s) && wordByte(s[to+1])) {
		return false
	}
	return true
}

func tie(c byte) bool     { return c == '.' || c == ',' || c == '-' || c == ':' || c == '/' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func wordByte(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c == '_' || c == '#' || c >= utf8.RuneSelf
}
