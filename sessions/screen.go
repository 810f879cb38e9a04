package sessions

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is one row of a pane. Typed differs from Full where the program drew a
// hint: dim text, and the reversed cell of a drawn cursor before it, are blanks
// there. Both have the same number of runes.
type line struct {
	full, typed []rune
}

// parseScreen reads `capture-pane -p -e`: rows of text with SGR sequences whose
// effect runs on from row to row. Everything else that is not printable goes.
func parseScreen(raw string) []line {
	var p sgr
	var out []line
	for row := range strings.Lines(raw) {
		out = append(out, p.row(strings.TrimSuffix(row, "\n")))
	}
	return out
}

// sgr is the drawing state that matters here.
type sgr struct{ dim, reverse bool }

func (p *sgr) row(s string) line {
	var l line
	cursor := -1 // the last cell, when it is a lone reversed one
	for s != "" {
		if n := p.escape(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if unicode.IsControl(r) {
			continue
		}
		shown := r
		if p.dim {
			shown = ' '
			if cursor == len(l.typed)-1 && cursor >= 0 {
				l.typed[cursor] = ' ' // a cursor drawn over the hint's first letter
			}
		}
		cursor = -1
		if p.reverse {
			cursor = len(l.typed)
		}
		l.full, l.typed = append(l.full, r), append(l.typed, shown)
	}
	return l
}

// escape consumes one escape sequence at the start of s and returns its length.
func (p *sgr) escape(s string) int {
	if s[0] != 0x1b || len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return len(s)
		}
		if s[2+end] == 'm' {
			p.apply(s[2 : 2+end])
		}
		return end + 3
	case ']', 'P', '_', '^': // strings (hyperlinks …): up to ST or BEL
		if i := strings.Index(s, "\x1b\\"); i > 0 {
			return i + 2
		}
		if i := strings.IndexByte(s, '\a'); i > 0 {
			return i + 1
		}
		return len(s)
	}
	return 2
}

// apply follows the parameters of one SGR sequence. The numbers after 38, 48 and
// 58 are colours: "38;5;2" does not mean dim.
func (p *sgr) apply(params string) {
	f := strings.Split(params, ";")
	for i := 0; i < len(f); i++ {
		switch f[i] {
		case "", "0":
			*p = sgr{}
		case "2":
			p.dim = true
		case "22":
			p.dim = false
		case "7":
			p.reverse = true
		case "27":
			p.reverse = false
		case "38", "48", "58":
			if i+1 < len(f) && f[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
}

// text is the screen as a person reads it, without trailing blanks.
func text(screen []line) string {
	var b strings.Builder
	for _, l := range screen {
		b.WriteString(strings.TrimRight(string(l.full), " "))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// canonical drops what a terminal may change between typing and showing: white
// space (wrapping, tabs), combining and format characters, box drawing.
func canonical(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || isBox(r) {
			return -1
		}
		return r
	}, s)
}

func isBox(r rune) bool { return r >= 0x2500 && r <= 0x259f || r == '|' }
