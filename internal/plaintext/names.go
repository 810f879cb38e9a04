package plaintext

import (
	"fmt"
	"unicode"
)

// Name returns the Unicode name of a refused character, or the name of its
// class where single names say nothing. The table is ours because the standard
// one (x/text/unicode/runenames, 1.1 MB) calls every control "<control>".
func Name(r rune) string {
	if n, ok := names[r]; ok {
		return n
	}
	switch {
	case r >= 0 && r < 0x20:
		return controls[r]
	case r > 0x7F && r < 0xA0:
		return "C1 CONTROL"
	case isTag(r):
		return tagName(r)
	case r >= 0xFE00 && r <= 0xFE0F:
		return fmt.Sprintf("VARIATION SELECTOR-%d", r-0xFE00+1)
	case r >= 0xE0100 && r <= 0xE01EF:
		return fmt.Sprintf("VARIATION SELECTOR-%d", r-0xE0100+17)
	}
	return class(r)
}

func tagName(r rune) string {
	if r > 0xE0020 && r < cancelTag {
		return fmt.Sprintf("TAG %q", r-0xE0000)
	}
	return "TAG CHARACTER"
}

func class(r rune) string {
	switch {
	case r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF:
		return "NONCHARACTER"
	case unicode.Is(unicode.Co, r):
		return "PRIVATE USE CHARACTER"
	case unicode.Is(unicode.Cs, r):
		return "SURROGATE"
	case unicode.Is(unicode.Cf, r):
		return "FORMAT CONTROL"
	case unicode.Is(invisible, r):
		return "INVISIBLE CHARACTER"
	case unicode.IsGraphic(r):
		return "CHARACTER"
	}
	return "UNASSIGNED CHARACTER"
}

var controls = [32]string{
	"NULL", "START OF HEADING", "START OF TEXT", "END OF TEXT",
	"END OF TRANSMISSION", "ENQUIRY", "ACKNOWLEDGE", "BELL",
	"BACKSPACE", "CHARACTER TABULATION", "LINE FEED", "LINE TABULATION",
	"FORM FEED", "CARRIAGE RETURN", "SHIFT OUT", "SHIFT IN",
	"DATA LINK ESCAPE", "DEVICE CONTROL ONE", "DEVICE CONTROL TWO", "DEVICE CONTROL THREE",
	"DEVICE CONTROL FOUR", "NEGATIVE ACKNOWLEDGE", "SYNCHRONOUS IDLE", "END OF TRANSMISSION BLOCK",
	"CANCEL", "END OF MEDIUM", "SUBSTITUTE", "ESCAPE",
	"INFORMATION SEPARATOR FOUR", "INFORMATION SEPARATOR THREE", "INFORMATION SEPARATOR TWO", "INFORMATION SEPARATOR ONE",
}

var names = map[rune]string{
	0x7F:   "DELETE",
	0x85:   "NEXT LINE",
	0x90:   "DEVICE CONTROL STRING",
	0x9B:   "CONTROL SEQUENCE INTRODUCER",
	0x9C:   "STRING TERMINATOR",
	0x9D:   "OPERATING SYSTEM COMMAND",
	0xAD:   "SOFT HYPHEN",
	0x34F:  "COMBINING GRAPHEME JOINER",
	0x61C:  "ARABIC LETTER MARK",
	0x115F: "HANGUL CHOSEONG FILLER",
	0x1160: "HANGUL JUNGSEONG FILLER",
	0x180E: "MONGOLIAN VOWEL SEPARATOR",
	0x200B: "ZERO WIDTH SPACE",
	0x200C: "ZERO WIDTH NON-JOINER",
	0x200D: "ZERO WIDTH JOINER",
	0x200E: "LEFT-TO-RIGHT MARK",
	0x200F: "RIGHT-TO-LEFT MARK",
	0x2028: "LINE SEPARATOR",
	0x2029: "PARAGRAPH SEPARATOR",
	0x202A: "LEFT-TO-RIGHT EMBEDDING",
	0x202B: "RIGHT-TO-LEFT EMBEDDING",
	0x202C: "POP DIRECTIONAL FORMATTING",
	0x202D: "LEFT-TO-RIGHT OVERRIDE",
	0x202E: "RIGHT-TO-LEFT OVERRIDE",
	0x2060: "WORD JOINER",
	0x2061: "FUNCTION APPLICATION",
	0x2062: "INVISIBLE TIMES",
	0x2063: "INVISIBLE SEPARATOR",
	0x2064: "INVISIBLE PLUS",
	0x2066: "LEFT-TO-RIGHT ISOLATE",
	0x2067: "RIGHT-TO-LEFT ISOLATE",
	0x2068: "FIRST STRONG ISOLATE",
	0x2069: "POP DIRECTIONAL ISOLATE",
	0x2800: "BRAILLE PATTERN BLANK",
	0x3164: "HANGUL FILLER",
	0xFEFF: "ZERO WIDTH NO-BREAK SPACE",
	0xFFA0: "HALFWIDTH HANGUL FILLER",
	0xFFF9: "INTERLINEAR ANNOTATION ANCHOR",
	0xFFFA: "INTERLINEAR ANNOTATION SEPARATOR",
	0xFFFB: "INTERLINEAR ANNOTATION TERMINATOR",
}
