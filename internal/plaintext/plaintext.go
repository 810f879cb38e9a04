package plaintext

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Violation is the first character of a text that may not travel.
type Violation struct {
	Offset  int  // in bytes, from 0
	Rune    rune // the character; for a byte that is not UTF-8, the byte
	Invalid bool // the byte at Offset does not begin valid UTF-8
}

// Error says which character stands where: "U+202E RIGHT-TO-LEFT OVERRIDE at
// byte 17".
func (v *Violation) Error() string {
	if v.Invalid {
		return fmt.Sprintf("invalid UTF-8 (byte 0x%02X) at byte %d", v.Rune, v.Offset)
	}
	return fmt.Sprintf("%U %s at byte %d", v.Rune, Name(v.Rune), v.Offset)
}

// Check returns the first refused character of a text, or nil. LF and TAB are
// allowed.
func Check(s string) *Violation { return check(s, true) }

// CheckLine is Check for one line (a subject, a role, a name): LF and TAB are
// refused too.
func CheckLine(s string) *Violation { return check(s, false) }

// Normalize turns each CRLF into LF. A CR that stands alone stays, and Check
// refuses it.
func Normalize(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// Sanitize replaces every refused character by a visible escape. The result
// passes Check. A text without refused characters is returned as it is.
func Sanitize(s string) string { return escape(s, true, visible) }

// EscapeText makes a text of any origin safe to print; LF and TAB are kept.
func EscapeText(s string) string { return escape(s, true, visible) }

// EscapeLine makes a text of any origin safe to print on one line: LF and TAB
// are escaped too.
func EscapeLine(s string) string { return escape(s, false, visible) }

// EscapeJSON makes encoded JSON safe to print; it still means the same. The
// encoder escapes C0 only, and C1 controls or bidi marks move a terminal too.
func EscapeJSON(s string) string { return escape(s, true, jsonEscape) }

func check(s string, text bool) *Violation {
	c := cursor{s: s, text: text}
	for c.next() {
		if !c.ok {
			return &Violation{Offset: c.at, Rune: c.shown(), Invalid: c.invalid()}
		}
	}
	return nil
}

// escape spells out every refused character.
func escape(s string, text bool, spell func(r rune, invalid bool) string) string {
	if check(s, text) == nil {
		return s
	}
	var b strings.Builder
	c := cursor{s: s, text: text}
	for c.next() {
		if c.ok {
			b.WriteString(s[c.at : c.at+c.size])
		} else {
			b.WriteString(spell(c.shown(), c.invalid()))
		}
	}
	return b.String()
}

// visible spells a refused character in printable ASCII. A stray byte and a
// control character below U+0080 look alike (`\x1b`); the bytes above are told
// from C1 controls by their spelling (`\x85` is a byte, `\u0085` is NEL).
func visible(r rune, invalid bool) string {
	switch {
	case invalid || r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xFFFF:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// jsonEscape spells a refused character as JSON does. A byte that is not UTF-8,
// which no encoder writes, becomes what decoders make of it: U+FFFD.
func jsonEscape(r rune, invalid bool) string {
	switch {
	case invalid:
		return `\ufffd`
	case r <= 0xFFFF:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
}
