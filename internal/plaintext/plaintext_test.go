package plaintext_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"arkamsg/internal/plaintext"
)

func TestPrintableTextPasses(t *testing.T) {
	for _, s := range []string{
		"", "plain ASCII ~!", "deux\nlignes\tet é à ç œ — « »", "日本語 العربية עברית हिन्दी",
		"e\u0301", "👍🏽 👩‍💻 ❤️ 👨‍👩‍👧‍👦 1️⃣ ©️ ☎︎", "🏳️‍🌈", "🇫🇷",
		"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", // England
		"\u0600 and \u00a0 and \u3000", "\ufffd",
	} {
		if v := plaintext.Check(s); v != nil {
			t.Errorf("Check(%q) = %v", s, v)
		}
		if got := plaintext.Sanitize(s); got != s {
			t.Errorf("Sanitize(%q) = %q", s, got)
		}
	}
}

func TestRefusedCharactersAreNamed(t *testing.T) {
	for s, want := range map[string]string{
		"a\x00b":                           "U+0000 NULL at byte 1",
		"esc \x1b[31m":                     "U+001B ESCAPE at byte 4",
		"lone \r":                          "U+000D CARRIAGE RETURN at byte 5",
		"\x7f":                             "U+007F DELETE at byte 0",
		"é\u0085":                          "U+0085 NEXT LINE at byte 2",
		"\u009b31m":                        "U+009B CONTROL SEQUENCE INTRODUCER at byte 0",
		"\u0081":                           "U+0081 C1 CONTROL at byte 0",
		"\u2028":                           "U+2028 LINE SEPARATOR at byte 0",
		"abc\u202etxt":                     "U+202E RIGHT-TO-LEFT OVERRIDE at byte 3",
		"\u200b":                           "U+200B ZERO WIDTH SPACE at byte 0",
		"a\u200db":                         "U+200D ZERO WIDTH JOINER at byte 1",
		"👩\u200db":                         "U+200D ZERO WIDTH JOINER at byte 4",
		"👩\u200d\u200d💻":                   "U+200D ZERO WIDTH JOINER at byte 4",
		"a\ufe0f":                          "U+FE0F VARIATION SELECTOR-16 at byte 1",
		"❤\ufe0f\ufe0f":                    "U+FE0F VARIATION SELECTOR-16 at byte 6",
		"❤\ufe00":                          "U+FE00 VARIATION SELECTOR-1 at byte 3",
		"x\U000E0100":                      "U+E0100 VARIATION SELECTOR-17 at byte 1",
		"x\U000E0041":                      "U+E0041 TAG 'A' at byte 1",
		"\U0001F3F4\U000E0067":             "U+E0067 TAG 'g' at byte 4",
		"\ufeffx":                          "U+FEFF ZERO WIDTH NO-BREAK SPACE at byte 0",
		"\ufffe":                           "U+FFFE NONCHARACTER at byte 0",
		"\U0001FFFF":                       "U+1FFFF NONCHARACTER at byte 0",
		"\ue000":                           "U+E000 PRIVATE USE CHARACTER at byte 0",
		"\u0378":                           "U+0378 UNASSIGNED CHARACTER at byte 0",
		"\u3164":                           "U+3164 HANGUL FILLER at byte 0",
		"ok\xff":                           "invalid UTF-8 (byte 0xFF) at byte 2",
		"\xed\xa0\x80":                     "invalid UTF-8 (byte 0xED) at byte 0", // a surrogate
		"tag\u00adged":                     "U+00AD SOFT HYPHEN at byte 3",
		"\u2066isolate":                    "U+2066 LEFT-TO-RIGHT ISOLATE at byte 0",
		"\U0001D173":                       "U+1D173 FORMAT CONTROL at byte 0",
		"a\u17b4":                          "U+17B4 INVISIBLE CHARACTER at byte 1",
		strings.Repeat("a", 17) + "\u202e": "U+202E RIGHT-TO-LEFT OVERRIDE at byte 17",
	} {
		v := plaintext.Check(s)
		if v == nil {
			t.Errorf("Check(%q) accepts it", s)
		} else if v.Error() != want {
			t.Errorf("Check(%q) = %q, want %q", s, v.Error(), want)
		}
	}
}

func TestOneLineHasNoBreaks(t *testing.T) {
	for _, s := range []string{"a\nb", "a\tb", "\n"} {
		if plaintext.CheckLine(s) == nil {
			t.Errorf("CheckLine(%q) accepts it", s)
		}
	}
	if v := plaintext.CheckLine("one line — é"); v != nil {
		t.Error(v)
	}
}

func TestEscapes(t *testing.T) {
	const in = "a\x1b[0m\u202e\U000E0041\xff\u0085\n\tb"
	if got, want := plaintext.EscapeText(in), `a\x1b[0m\u202e\U000e0041\xff\u0085`+"\n\tb"; got != want {
		t.Errorf("EscapeText = %q, want %q", got, want)
	}
	if got, want := plaintext.EscapeLine(in), `a\x1b[0m\u202e\U000e0041\xff\u0085\x0a\x09b`; got != want {
		t.Errorf("EscapeLine = %q, want %q", got, want)
	}
}

func TestNormalizeTouchesOnlyCRLF(t *testing.T) {
	if got := plaintext.Normalize("a\r\nb\rc\n"); got != "a\nb\rc\n" {
		t.Errorf("got %q", got)
	}
}

// Every code point alone (without ARKA_LONG=1: every one up to U+3FFF, then a
// sample): accepted or escaped, and never anything in between.
func TestEveryCodePoint(t *testing.T) {
	step := rune(251)
	if os.Getenv("ARKA_LONG") != "" {
		step = 1
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x3FFF {
			r += step - 1
		}
		if !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		ok := plaintext.Check(s) == nil
		if ok && r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Co, unicode.Zl, unicode.Zp) {
			t.Fatalf("%U is accepted", r)
		}
		if !ok && plaintext.Name(r) == "" {
			t.Fatalf("%U has no name", r)
		}
		if v := plaintext.Check(plaintext.Sanitize(s)); v != nil {
			t.Fatalf("%U is not made harmless: %v", r, v)
		}
		sameJSON(t, s)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\x1b[0m", "👩\u200d💻\ufe0f", "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E007F", "\U0001FAFF\ufe0f", "\xf0\x9f", "a\r\n\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := plaintext.Sanitize(s)
		if v := plaintext.Check(safe); v != nil {
			t.Fatalf("Sanitize(%q) = %q: %v", s, safe, v)
		}
		if plaintext.Check(s) == nil && safe != s {
			t.Fatalf("accepted %q is changed to %q", s, safe)
		}
		line := plaintext.EscapeLine(s)
		if v := plaintext.CheckLine(line); v != nil {
			t.Fatalf("EscapeLine(%q) = %q: %v", s, line, v)
		}
		for _, r := range line {
			if unicode.IsControl(r) {
				t.Fatalf("EscapeLine(%q) holds %U", s, r)
			}
		}
		sameJSON(t, s)
	})
}

// sameJSON demands of EscapeJSON that nothing refused is left, and that it
// means what it meant.
func sameJSON(t *testing.T, s string) {
	t.Helper()
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	safe := plaintext.EscapeJSON(string(encoded))
	if v := plaintext.Check(safe); v != nil {
		t.Fatalf("EscapeJSON(%s) = %s: %v", encoded, safe, v)
	}
	var before, after string
	if err := errors.Join(json.Unmarshal(encoded, &before), json.Unmarshal([]byte(safe), &after)); err != nil || before != after {
		t.Fatalf("%q is %q after EscapeJSON: %v", before, after, err)
	}
}

// Every short sequence of the characters that are judged by their neighbours:
// what Sanitize leaves standing is judged alike again.
func TestSequencesOfJoinedCharacters(t *testing.T) {
	alphabet := []string{"a", "1", "👩", "❤", "\u200d", "\ufe0f", "\ufe00", "🏴", "\U000E0067", "\U000E007F", "\U0001FAFF", "\xf0"}
	var walk func(s string, left int)
	walk = func(s string, left int) {
		if v := plaintext.Check(plaintext.Sanitize(s)); v != nil {
			t.Fatalf("%q: %v", s, v)
		}
		for _, next := range alphabet {
			if left > 0 {
				walk(s+next, left-1)
			}
		}
	}
	walk("", 3)
}
