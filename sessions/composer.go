package sessions

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// composer is the agent's input line as found on a screen.
type composer struct {
	row   int    // of the prompt
	after int    // runes of that row that belong to the prompt
	rows  []line // the screen from the prompt's row on
}

// findComposer looks for the profile's prompt from the bottom up: earlier
// messages are often drawn with the same sign.
func findComposer(p Profile, screen []line) (composer, bool) {
	for row := len(screen) - 1; row >= 0; row-- {
		l := unbox(screen[row])
		full := string(l.full)
		if at := p.Prompt.FindStringIndex(full); at != nil {
			return composer{row: row, after: utf8.RuneCountInString(full[:at[1]]), rows: screen[row:]}, true
		}
	}
	return composer{}, false
}

// unbox takes the frame's sides off a row: "│ > text   │".
func unbox(l line) line {
	start, end := 0, len(l.full)
	for end > start && (l.full[end-1] == ' ' || isSide(l.full[end-1])) {
		end--
	}
	if end < len(l.full) && !isSide(l.full[len(l.full)-1]) {
		end = len(l.full) // blanks that belong to the row, as after a bare prompt
	}
	for start < end && (l.full[start] == ' ' || isSide(l.full[start])) {
		start++
	}
	if start == 0 || !hasSide(l.full[:start]) {
		start = 0
	}
	return line{full: l.full[start:end], typed: l.typed[start:end]}
}

func isSide(r rune) bool { return r == '│' || r == '┃' || r == '▏' || r == '▕' || r == '║' }

func hasSide(rs []rune) bool {
	for _, r := range rs {
		if isSide(r) {
			return true
		}
	}
	return false
}

// first is the composer's row without what is only hinted.
func (c composer) first() string {
	l := unbox(c.rows[0])
	return strings.TrimRight(string(l.full[:c.after])+string(l.typed[c.after:]), " \u00a0")
}

// isEmpty reports whether nothing is typed. A draft may begin on the second row:
// then the cursor stands there.
func (c composer) isEmpty(p Profile, cursorY int) bool {
	l := unbox(c.rows[0])
	first := string(l.full[:c.after]) + string(l.typed[c.after:])
	empty := strings.TrimSpace(string(l.typed[c.after:])) == ""
	if p.Empty != nil {
		empty = empty || p.Empty.MatchString(first) || p.Empty.MatchString(strings.TrimRight(first, " "))
	}
	if !empty {
		return false
	}
	for i, l := range c.rows[1:] {
		if blank(l.full) || border(l.full) {
			return true
		}
		if c.row+1+i == cursorY && !blank(unbox(l).typed) {
			return false
		}
	}
	return true
}

func blank(rs []rune) bool { return strings.TrimSpace(string(rs)) == "" }

// border reports whether a row is drawn, not written.
func border(rs []rune) bool {
	return canonical(string(rs)) == "" && !blank(rs)
}

// content is what the composer shows, canonically, given what it should: rows up
// to a blank or drawn one; a blank row inside our own text does not end it.
func (c composer) content(p Profile, ours string, hints bool) string {
	var got strings.Builder
	for i, l := range c.rows {
		whole := unbox(l)
		drawn := border(l.full)
		shown := whole.typed
		if hints {
			shown = whole.full
		}
		if i == 0 {
			shown = shown[c.after:]
		} else if drawn || blank(shown) && !within(got.String(), ours) {
			break
		}
		got.WriteString(canonical(string(shown)))
	}
	return got.String()
}

// within reports whether text goes on after what was seen of it so far.
func within(seen, ours string) bool {
	return seen != "" && len(seen) < len(ours) && strings.HasPrefix(ours, seen)
}

// placeholder is what agents show instead of a large paste.
var placeholder = regexp.MustCompile(`(?i)^\[pasted[^\]]*\]`)

// holding says what a composer holds, compared with our text.
type holding int

const (
	holdsNothing holding = iota
	holdsOurs            // exactly our text, or a placeholder for it
	holdsPart            // some of our text, nothing else: still drawing, or scrolled
	holdsMore            // our text, and somebody's beside it
	holdsOther           // somebody's
)

// holds compares the composer with our text. Programs may draw our own text dim
// (placeholders), so the hints count when nothing is typed.
func (c composer) holds(p Profile, cursorY int, text string) holding {
	ours := canonical(text)
	got := compare(c.content(p, ours, false), ours)
	if got == holdsOurs || got == holdsMore {
		return got
	}
	if all := compare(c.content(p, ours, true), ours); all == holdsOurs {
		return all
	}
	if c.isEmpty(p, cursorY) {
		return holdsNothing
	}
	return got
}

func compare(got, ours string) holding {
	mark := placeholder.FindString(got)
	switch {
	case got == "":
		return holdsNothing
	case got == ours, mark != "" && mark == got:
		return holdsOurs
	case strings.Contains(got, ours), mark != "", placeholderInside.MatchString(got):
		return holdsMore
	case strings.Contains(ours, got):
		return holdsPart
	}
	return holdsOther
}

var placeholderInside = regexp.MustCompile(`(?i)\[pasted(text|content)[^\]]*\]`)
