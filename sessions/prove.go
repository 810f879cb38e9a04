package sessions

import (
	"context"
	"strings"
	"time"
)

// maxEnters bounds the Enters of one call; each but the first needs a fresh look
// that shows our text still in the composer.
const maxEnters = 4

// prove looks, after an Enter, for the profile's proof. Until the bound it keeps
// looking; an Enter that was evidently swallowed is repeated.
func (r *delivery) prove(ctx context.Context, v snapshot) (Outcome, error) {
	again, until := r.pace.until(r.pace.reenter(r.Profile)), r.pace.until(r.pace.proof)
	for seen := 0; ; {
		out, swallowed := r.judge(v)
		switch {
		case out.State == Delivered && (seen > 0 || !r.Profile.fleeting()):
			return out, nil
		case out.State == Delivered:
			seen++
		case swallowed && time.Now().After(again):
			return r.repeat(ctx, v, out)
		case !swallowed && time.Now().After(until):
			return out, nil
		default:
			seen = 0
		}
		if err := pause(ctx, r.pace.look); err != nil {
			return Outcome{}, err
		}
		step := v.step
		var err error
		if v, err = r.look(ctx, r.Target, r.marks()); err != nil || v.step != step {
			return Outcome{}, err
		}
	}
}

// fleeting reports whether the proof is read from the screen: one look may fall
// into the middle of a redraw, so it takes two.
func (p Profile) fleeting() bool { return p.Proof == ProofComposer || p.Proof == ProofEcho }

// repeat presses Enter once more, if the pane may have it.
func (r *delivery) repeat(ctx context.Context, v snapshot, out Outcome) (Outcome, error) {
	if w := v.inputGate(r.Profile); !w.Open {
		return waitFor(w), nil
	}
	if r.enters >= maxEnters {
		return out, nil
	}
	r.enters++
	_, err := r.submit(ctx, r.Delivery, v)
	return Outcome{}, r.settled(ctx, err)
}

// judge says what the screen (or the transcript) proves now, and whether the
// text still stands in the composer as if no Enter had come.
func (r *delivery) judge(v snapshot) (out Outcome, swallowed bool) {
	if r.Profile.Proof == ProofNone {
		return Outcome{State: Delivered, Detail: "typed and entered; this profile proves no more"}, false
	}
	if w := v.inputGate(r.Profile); w.Blocked {
		return unsure(v, "after the Enter: "+w.Detail), false
	} else if w.Reason == ReasonDialogOpen && r.Profile.Proof != ProofTranscript {
		return waitFor(w), false
	}
	if r.Profile.Prompt != nil {
		if out, left := r.judgeComposer(v); !left {
			return out, out.State == NotSubmitted
		}
	}
	switch r.Profile.Proof {
	case ProofTranscript:
		if transcriptHolds(r.Profile.Transcript, r.Text) {
			return Outcome{State: Delivered, Detail: "in the agent's transcript"}, false
		}
		return unsure(v, "not in the agent's transcript"), false
	case ProofEcho:
		return r.judgeEcho(v), false
	}
	return Outcome{State: Delivered, Detail: "the composer is empty again"}, false
}

// judgeComposer reports whether our text has left the composer; if not, why.
func (r *delivery) judgeComposer(v snapshot) (Outcome, bool) {
	busy := first(r.Profile.Busy, v.screen) != ""
	c, found := findComposer(r.Profile, v.screen)
	if !found {
		if busy && r.Profile.WaitIdle {
			return Outcome{}, true
		}
		return Outcome{State: Waiting, Reason: ReasonUnknownScreen, Detail: "the composer is out of sight"}, false
	}
	switch c.holds(r.Profile, v.cursorY, r.Profile.frame(r.Text)) {
	case holdsNothing, holdsOther:
		return Outcome{}, true
	case holdsMore:
		return Outcome{State: Waiting, Reason: ReasonHumanDraft, Detail: "somebody's text stands beside ours"}, false
	case holdsPart:
		if !r.scrolled(v, c) {
			return Outcome{}, true // somebody's next word, which ours happens to hold
		}
	}
	return Outcome{State: NotSubmitted, Detail: "Enter is swallowed", Evidence: v.cleaned()}, false
}

// judgeEcho: the text stands on the screen, and the Enter moved something.
func (r *delivery) judgeEcho(v snapshot) Outcome {
	if !r.echoed(v) {
		return unsure(v, "the text is not on the screen")
	}
	if r.sent != nil && text(r.sent.screen) == text(v.screen) && r.sent.cursorX == v.cursorX && r.sent.cursorY == v.cursorY {
		return unsure(v, "the Enter changed nothing on the screen")
	}
	return Outcome{State: Delivered, Detail: "the text stands on the screen"}
}

// echoed reports whether the screen shows the text: the longest of its last
// rows, and once more than before when that row was there already.
func (r *delivery) echoed(v snapshot) bool {
	if r.Profile.Proof == ProofNone {
		return true
	}
	needle := echoNeedle(r.Profile.frame(r.Text), v.height)
	count := strings.Count(canonical(text(v.screen)), needle)
	if r.before == nil {
		return count > 0
	}
	return count > strings.Count(canonical(text(r.before.screen)), needle)
}

// maxNeedle is how much of a row is looked for, in bytes.
const maxNeedle = 120

// echoNeedle is the tail of the longest row among those that fit the screen.
func echoNeedle(s string, height int) string {
	rows := strings.Split(s, "\n")
	longest := ""
	for _, row := range rows[max(0, len(rows)-max(1, height/2)):] {
		if c := canonical(row); len(c) >= len(longest) {
			longest = c
		}
	}
	if cut := len(longest) - maxNeedle; cut > 0 {
		longest = strings.ToValidUTF8(longest[cut:], "")
	}
	return longest
}
