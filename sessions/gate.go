package sessions

import (
	"context"
	"fmt"
	"regexp"

	"arkamsg/internal/plaintext"
)

// View is what the gate sees now.
type View struct {
	Open    bool   `json:"open"`              // typing is allowed
	Blocked bool   `json:"blocked,omitempty"` // waiting will not help: dead pane, wrong program
	Reason  Reason `json:"reason,omitempty"`  // why not open
	Detail  string `json:"detail,omitempty"`  // the same for people
	Program string `json:"program"`           // foreground program, escaped
	Screen  string `json:"-"`                 // visible text, escaped
}

// Look reads the pane and says whether a message could be typed now. It changes
// nothing. ErrMoved: pin again.
func (s *Server) Look(ctx context.Context, t Target, p Profile) (View, error) {
	v, err := s.look(ctx, t, marksOf("00000000", 0))
	if err != nil {
		return View{}, err
	}
	return v.gate(p), nil
}

// gate decides about a first paste: everything that Look checks.
func (v snapshot) gate(p Profile) View {
	if w := v.inputGate(p); !w.Open {
		return w
	}
	if first(p.Busy, v.screen) != "" && p.WaitIdle {
		return v.shut(ReasonAgentBusy, "the agent is in a turn: %q", first(p.Busy, v.screen))
	}
	if p.Prompt == nil {
		return v.open()
	}
	c, found := findComposer(p, v.screen)
	if !found {
		return v.shut(ReasonUnknownScreen, "no composer: no row matches %s", p.Prompt)
	}
	if !c.isEmpty(p, v.cursorY) {
		return v.shut(ReasonHumanDraft, "the composer holds %q", plaintext.EscapeLine(c.first()))
	}
	return v.open()
}

// inputGate holds before every key: the pane takes input, the program is the
// right one, and an Enter would not answer a dialog.
func (v snapshot) inputGate(p Profile) View {
	switch {
	case v.dead:
		return v.block(ReasonTargetDead, "the program in the pane has ended")
	case !p.expects(v.program):
		return v.block(ReasonWrongProgram, "%q is in the foreground", plaintext.EscapeLine(v.program))
	case v.mode:
		return v.shut(ReasonPaneInMode, "the pane is in copy-mode or a menu; it waits until somebody leaves it")
	case v.inputOff:
		return v.shut(ReasonInputOff, "input is off (select-pane -e turns it on)")
	case v.synced:
		return v.shut(ReasonSynchronized, "synchronize-panes is on")
	}
	if d := first(p.Dialog, v.screen); d != "" {
		return v.shut(ReasonDialogOpen, "a dialog is open: %q", d)
	}
	return v.open()
}

func (v snapshot) open() View {
	return View{Open: true, Program: plaintext.EscapeLine(v.program), Screen: v.cleaned()}
}

func (v snapshot) shut(r Reason, format string, args ...any) View {
	w := v.open()
	w.Open, w.Reason, w.Detail = false, r, fmt.Sprintf(format, args...)
	return w
}

func (v snapshot) block(r Reason, format string, args ...any) View {
	w := v.shut(r, format, args...)
	w.Blocked = true
	return w
}

// cleaned is the screen as it may be stored and shown.
func (v snapshot) cleaned() string { return plaintext.EscapeText(text(v.screen)) }

// first returns what the first matching pattern matched on the screen, cleaned.
func first(patterns []*regexp.Regexp, screen []line) string {
	if len(patterns) == 0 {
		return ""
	}
	shown := text(screen)
	for _, re := range patterns {
		if m := re.FindString(shown); m != "" {
			return plaintext.EscapeLine(m)
		}
	}
	return ""
}
