package standin

import (
	"fmt"
	"strings"
)

// look is how an agent's screen is drawn around the composer.
type look struct {
	prompt  string
	above   string // a drawn row over the composer
	below   string // and under it
	busy    string
	hint    string // the row at the bottom
	dialogs string
}

const rule = "────────────────────────────────────────"

var looks = map[string]look{
	"codex": {prompt: "› ", busy: "• Working (0s • esc to interrupt)", hint: "? for shortcuts",
		dialogs: "Would you like to run the following command?\r\n\r\n  $ rm -rf build\r\n\r\n› 1. Yes, proceed (y)\r\n  2. No, and tell Codex what to do differently (esc)\r\n\r\nPress enter to confirm or esc to cancel"},
	"claude": {prompt: "> ", above: rule, below: rule, busy: "✻ Pondering… (esc to interrupt)", hint: "? for shortcuts",
		dialogs: "Bash command\r\n\r\n  rm -rf build\r\n\r\nDo you want to proceed?\r\n❯ 1. Yes\r\n  2. No, and tell Claude what to do differently (esc)"},
	"gemini": {prompt: "│ > ", above: "╭" + rule + "╮", below: "╰" + rule + "╯", busy: "⠏ Thinking (esc to cancel, 1s)", hint: "no sandbox",
		dialogs: "Allow execution of: 'rm'?\r\n● 1. Yes, allow once\r\n  2. No (esc)"},
	"generic": {prompt: "", busy: "working", dialogs: "Really? [y/N]"},
}

// shownRows and shownRunes bound what is drawn, so that the screen never scrolls
// under the saved cursor.
const (
	shownTurns = 3
	shownRunes = 900
)

// draw writes the whole screen: the last turns, the state, the composer. The
// cursor ends behind the composer's text.
func (a *agent) draw() {
	var b strings.Builder
	b.WriteString("\x1b[?2026h\x1b[H\x1b[2J")
	for _, t := range a.turns[max(0, len(a.turns)-shownTurns):] {
		fmt.Fprintf(&b, "• %s\r\n", head(t))
	}
	if a.busyNow() {
		b.WriteString(a.look.busy + "\r\n")
	}
	b.WriteString("\r\n")
	if a.dialog {
		b.WriteString(a.look.dialogs)
	} else {
		a.drawComposer(&b)
	}
	b.WriteString("\x1b[?2026l")
	_, _ = a.out.Write([]byte(b.String()))
}

func (a *agent) drawComposer(b *strings.Builder) {
	row := func(s string) {
		if s != "" {
			b.WriteString(s + "\r\n")
		}
	}
	row(a.look.above)
	b.WriteString(a.look.prompt)
	shown := a.shown()
	if shown == "" {
		b.WriteString("\x1b7")
		if a.opt.suggestion != "" {
			b.WriteString("\x1b[2m" + a.opt.suggestion + "\x1b[0m")
		}
	} else {
		b.WriteString(a.wrap(shown) + "\x1b7")
	}
	b.WriteString("\r\n")
	row(a.look.below)
	b.WriteString("\r\n")
	if a.look.hint != "" {
		b.WriteString("\x1b[2m  " + a.look.hint + "\x1b[0m")
	}
	b.WriteString("\x1b8")
}

// shown is the composer as drawn: its pieces, or placeholders for large ones.
func (a *agent) shown() string {
	if a.opt.mute {
		return ""
	}
	var b strings.Builder
	for i, p := range a.pieces {
		if n := len(p.text); p.pasted && a.opt.placeholder > 0 && n > a.opt.placeholder {
			fmt.Fprintf(&b, "[Pasted text #%d +%d lines]", i+1, strings.Count(p.text, "\n"))
			continue
		}
		b.WriteString(p.text)
	}
	return tail(b.String(), shownRunes)
}

// wrap breaks rows as agents do: at their own width, continued under the text.
func (a *agent) wrap(s string) string {
	s = strings.ReplaceAll(s, "\t", "    ")
	if a.opt.width <= 0 {
		return strings.ReplaceAll(s, "\n", "\r\n  ")
	}
	var b strings.Builder
	col := 0
	for _, r := range s {
		if r == '\n' || col >= a.opt.width {
			b.WriteString("\r\n  ")
			col = 0
		}
		if r != '\n' {
			b.WriteRune(r)
			col++
		}
	}
	return b.String()
}

// head is the start of a turn, line by line as agents show it: enough to be
// read, never enough to push the composer off the screen.
func head(s string) string {
	const rows, width = 14, 200
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > rows {
		lines = append(lines[:rows], "…")
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = string(r[:width]) + "…"
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\r\n  "), "\t", "    ")
}

func tail(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[len(r)-n:])
	}
	return s
}
