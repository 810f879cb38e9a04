package slug

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"arkamsg/internal/errkind"
)

// Slug is the id of a competence and, with ".yaml", the name of its file.
type Slug string

var pattern = regexp.MustCompile(`^[a-z][a-z0-9_]{2,79}$`)

// reserved are the device names that Windows opens in place of a file.
var reserved = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// letters that no decomposition of Unicode takes apart.
var letters = strings.NewReplacer(
	"œ", "oe", "Œ", "oe", "æ", "ae", "Æ", "ae", "ß", "ss", "ẞ", "ss",
	"ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "đ", "d", "Đ", "d", "þ", "th", "Þ", "th")

// Valid reports whether s is a slug as it stands.
func Valid(s string) bool { return pattern.MatchString(s) && !reserved.MatchString(s) }

// Make derives the slug of a name. Its error is errkind.Invalid and never
// repeats the name, which may hold personal data.
func Make(name string) (Slug, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	s := fold(name)
	if !pattern.MatchString(s) {
		return "", errkind.New(errkind.Invalid,
			"the name gives no usable id: after transliteration it must start with a letter and have 3 to 80 letters, digits or underscores (it has %d)", len(s))
	}
	if reserved.MatchString(s) {
		return "", errkind.New(errkind.Invalid, "the name is a device name on Windows")
	}
	return Slug(s), nil
}

func checkName(name string) error {
	if !utf8.ValidString(name) {
		return errkind.New(errkind.Invalid, "the name is not valid UTF-8")
	}
	for i, r := range name {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return errkind.New(errkind.Invalid, "the name holds a control or invisible character U+%04X (at byte %d)", r, i)
		}
	}
	if climbs(name) || climbs(norm.NFKC.String(name)) {
		return errkind.New(errkind.Invalid, "the name looks like a path (a .. segment beside a separator)")
	}
	return nil
}

// climbs reports a ".." segment in something that has separators.
func climbs(name string) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) < 2 && !strings.ContainsAny(name, `/\`) {
		return false
	}
	for _, p := range parts {
		if strings.TrimSpace(p) == ".." {
			return true
		}
	}
	return false
}

// fold transliterates; the order of the steps is the rule itself (NFKC first,
// so that ligatures and full-width forms are letters before they are judged).
func fold(name string) string {
	s := norm.NFKD.String(letters.Replace(norm.NFKC.String(name)))
	var b strings.Builder
	for _, r := range s {
		switch r = unicode.ToLower(r); {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case (r == '_' || unicode.IsSpace(r)) && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.Trim(b.String(), "_")
}
