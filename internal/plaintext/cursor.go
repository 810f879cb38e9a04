package plaintext

import (
	"unicode"
	"unicode/utf8"
)

// cursor walks a text character by character and decides about each one. It
// looks at its neighbours only for emoji: a joiner needs an emoji on both
// sides, a variation selector one before it, tags a black flag.
type cursor struct {
	s    string
	text bool // LF and TAB are allowed

	at, size int  // the current character
	r        rune // utf8.RuneError with size 1: not UTF-8
	ok       bool

	emoji  bool // the character before may be joined: an emoji, or its selector
	base   bool // the character before may take a variation selector
	tagEnd int  // tags up to here belong to an accepted flag
}

func (c *cursor) next() bool {
	c.at += c.size
	if c.at >= len(c.s) {
		return false
	}
	c.r, c.size = utf8.DecodeRuneInString(c.s[c.at:])
	c.ok = c.allowed()
	c.remember()
	return true
}

func (c *cursor) invalid() bool { return c.r == utf8.RuneError && c.size == 1 }

// shown is the rune to name or escape; for a stray byte, the byte.
func (c *cursor) shown() rune {
	if c.invalid() {
		return rune(c.s[c.at])
	}
	return c.r
}

func (c *cursor) allowed() bool {
	switch {
	case c.r == '\n' || c.r == '\t':
		return c.text
	case c.invalid():
		return false
	case c.r == zeroWidthJoiner:
		return c.emoji && c.emojiFollows()
	case c.r == textSelector || c.r == emojiSelector:
		return c.base
	case isTag(c.r):
		return c.tagAllowed()
	}
	return printable(c.r)
}

// remember prepares the judgement of the next character. A refused one breaks
// every sequence, so that what Sanitize leaves standing is judged alike again.
func (c *cursor) remember() {
	selector := c.r == textSelector || c.r == emojiSelector
	base := c.ok && unicode.Is(emojiBase, c.r)
	c.emoji = c.ok && (base && c.r > unicode.MaxASCII || selector && c.emoji)
	c.base = base
}

func (c *cursor) emojiFollows() bool {
	r, _ := utf8.DecodeRuneInString(c.s[c.at+c.size:])
	return r > unicode.MaxASCII && unicode.Is(emojiBase, r) && printable(r)
}

// tagAllowed accepts the whole tag sequence of a regional flag at its first
// tag: black flag, three to six letters or digits, cancel tag.
func (c *cursor) tagAllowed() bool {
	if c.at < c.tagEnd {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(c.s[:c.at])
	if before != blackFlag {
		return false
	}
	n, end := 0, c.at
	for {
		r, size := utf8.DecodeRuneInString(c.s[end:])
		end += size
		switch {
		case r == cancelTag && n >= 3:
			c.tagEnd = end
			return true
		case !isTagAlnum(r) || n == 6:
			return false
		}
		n++
	}
}
