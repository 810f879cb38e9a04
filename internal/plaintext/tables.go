package plaintext

import "unicode"

const (
	zeroWidthJoiner = 0x200D
	textSelector    = 0xFE0E
	emojiSelector   = 0xFE0F
	blackFlag       = 0x1F3F4
	cancelTag       = 0xE007F
)

// invisible are characters which Unicode counts as letters, marks or symbols
// and which show nothing, or change how a neighbour is shown.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034F, 0x034F, 1}, // COMBINING GRAPHEME JOINER
		{0x115F, 0x1160, 1}, // Hangul fillers
		{0x17B4, 0x17B5, 1}, // Khmer inherent vowels
		{0x180B, 0x180F, 1}, // Mongolian selectors and vowel separator
		{0x2800, 0x2800, 1}, // BRAILLE PATTERN BLANK
		{0x3164, 0x3164, 1}, // HANGUL FILLER
		{0xFE00, 0xFE0F, 1}, // variation selectors
		{0xFFA0, 0xFFA0, 1}, // HALFWIDTH HANGUL FILLER
	},
	R32: []unicode.Range32{
		{0x1BCA0, 0x1BCA3, 1}, // shorthand format controls
		{0x1D173, 0x1D17A, 1}, // musical format controls
		{0xE0000, 0xE0FFF, 1}, // tags and variation selectors supplement
	},
}

// emojiBase are the characters that begin or continue an emoji. It is wider
// than Unicode's own list by some symbols, which costs nothing: all of them are
// visible.
var emojiBase = &unicode.RangeTable{
	R16: []unicode.Range16{
		{'#', '#', 1}, {'*', '*', 1}, {'0', '9', 1},
		{0x00A9, 0x00A9, 1}, {0x00AE, 0x00AE, 1},
		{0x203C, 0x203C, 1}, {0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1}, {0x2139, 0x2139, 1},
		{0x2194, 0x21AA, 1}, {0x231A, 0x23FF, 1}, {0x24C2, 0x24C2, 1},
		{0x25AA, 0x25FE, 1}, {0x2600, 0x27BF, 1}, {0x2934, 0x2935, 1},
		{0x2B05, 0x2B55, 1}, {0x3030, 0x3030, 1}, {0x303D, 0x303D, 1},
		{0x3297, 0x3297, 1}, {0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{{0x1F000, 0x1FAFF, 1}},
}

// printable tells whether a character can be seen as what it is, apart from
// its neighbours.
func printable(r rune) bool {
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return true // format characters by category, visible signs by nature
	}
	return unicode.IsGraphic(r) && !unicode.Is(invisible, r)
}

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }

func isTagAlnum(r rune) bool {
	return r >= 0xE0030 && r <= 0xE0039 || r >= 0xE0061 && r <= 0xE007A
}
