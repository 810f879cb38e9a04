package pii

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ordinals would become letters that touch the number behind them ("nº12").
var ordinals = strings.NewReplacer("º", "|", "ª", "|", "№", "n|")

// fold brings a text into the form the rules speak of: NFKC and taken apart,
// marks dropped, ASCII digits, single blanks, lower case.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := false
	for _, r := range norm.NFKD.String(ordinals.Replace(s)) {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r):
			continue // marks, and invisible characters between digits
		case unicode.IsSpace(r):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		case unicode.Is(unicode.Nd, r):
			b.WriteByte('0' + digitValue(r))
		case r >= utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsNumber(r):
			b.WriteByte('|') // some sign; it parts words as punctuation does
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		blank = false
	}
	return b.String()
}

// digitValue uses that Unicode encodes each set of decimal digits as a run of
// ten, in order: the distance to the start of its run is the value.
func digitValue(r rune) byte {
	if r <= '9' {
		return byte(r - '0')
	}
	var n byte
	for unicode.Is(unicode.Nd, r-1) && n < 250 {
		r, n = r-1, n+1
	}
	return n % 10
}

var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// words turns a key into the words it is made of: "numeroDossier_2" reads
// "numero dossier 2".
func words(key string) string {
	if plainKey(key) {
		return strings.ReplaceAll(key, "_", " ")
	}
	key = camel.ReplaceAllString(key, "$1 $2")
	return fold(separators.Replace(key))
}

var separators = strings.NewReplacer("_", " ", "-", " ", ".", " ", ":", " ")

// plainKey: small ASCII letters and lone underscores, as most keys are.
func plainKey(key string) bool {
	for i := range len(key) {
		if c := key[i]; (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return !strings.Contains(key, "__")
}

// technicalTokens are forms in which digits never name a person. They are
// blanked before digits are counted.
var technicalTokens = regexp.MustCompile(
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` + // UUID
		`|0x[0-9a-f]+` + // handle, address
		`|[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?` + // timestamp
		`|[0-9]{8}t[0-9]{6}(?:\.[0-9]+)?z?`) // basic timestamp

func blankTechnical(folded string) string {
	return technicalTokens.ReplaceAllStringFunc(folded, func(m string) string { return strings.Repeat("#", len(m)) })
}
