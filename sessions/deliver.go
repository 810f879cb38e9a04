package sessions

import (
	"context"
	"errors"
	"regexp"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

// State is what became of a delivery.
type State string

const (
	// Delivered: submitted once, and shown by the profile's proof.
	Delivered State = "delivered"
	// Waiting: nothing (more) was typed; call again later with the same event.
	Waiting State = "waiting"
	// Blocked: nothing was typed and waiting will not help.
	Blocked State = "blocked"
	// NotSubmitted: the text stands in the composer and Enter is swallowed; a
	// later call presses Enter only.
	NotSubmitted State = "not_submitted"
	// Indeterminate: typed, and whether it arrived cannot be shown. Never typed
	// again by itself.
	Indeterminate State = "indeterminate"
)

// Delivery is one message for one pinned pane.
type Delivery struct {
	Target  Target
	Profile Profile
	Journal string // 8 lower-case hex: the journal's id
	Event   int64  // the event's number in that journal
	Token   int64  // rises with each claim over the whole journal
	Text    string // without the profile's trailer
}

func (d Delivery) marks() marks { return marksOf(d.Journal, d.Event) }

// Outcome is what one call of Deliver came to.
type Outcome struct {
	State    State
	Reason   Reason
	Detail   string // for people
	Evidence string // the screen, cleaned; for Indeterminate and NotSubmitted
	Typed    bool   // our text is, or was, in the pane
}

// maxText bounds a text; a notification has two lines.
const maxText = 1 << 20

var journalID = regexp.MustCompile(`^[0-9a-f]{8}$`)

// check is the door: what passes here may be typed.
func (d *Delivery) check() error {
	d.Text = plaintext.Normalize(d.Text)
	bad := func(format string, args ...any) error { return errkind.New(errkind.Invalid, format, args...) }
	switch v := plaintext.Check(d.Text); {
	case v != nil:
		return errkind.New(errkind.Invalid, "the text cannot be typed").Wrap(v).WithHint("push --sanitize shows such characters as escapes")
	case d.Text == "" || len(d.Text) > maxText:
		return bad("a text of 1 to %d bytes is expected, not %d", maxText, len(d.Text))
	case !journalID.MatchString(d.Journal) || d.Event <= 0 || d.Token <= 0:
		return bad("journal, event and token are expected: %q, %d, %d", d.Journal, d.Event, d.Token)
	case !isID('$', d.Target.SessionID) || !isID('%', d.Target.PaneID):
		return bad("a pinned pane is expected, not %q in %q", d.Target.PaneID, d.Target.SessionID)
	case !submitKey.MatchString(d.Profile.Submit):
		return bad("profile %q has no submit key", d.Profile.Name)
	}
	return nil
}

// Deliver brings the message one or more steps further and says where it
// stands. It is idempotent by the marks in the pane: call it again with the same
// event, from this process or another, until the state is final. See the
// package comment for the order of things and what makes it safe.
//
// An error means that nothing was decided: invalid input, a cancelled context
// (the marks hold what was done), or ErrFenced.
func (s *Server) Deliver(ctx context.Context, d Delivery) (Outcome, error) {
	if err := d.check(); err != nil {
		return Outcome{}, err
	}
	r := &delivery{Server: s, Delivery: d}
	out, err := r.run(ctx)
	out.Typed = out.Typed || r.typed
	if err != nil {
		return r.failed(err, out)
	}
	if out.State == Delivered {
		crash.At("sessions:after-prove")
	}
	return out, nil
}

// delivery is one call of Deliver.
type delivery struct {
	*Server
	Delivery
	typed  bool      // the pane said, or may say, that the text was pasted
	before *snapshot // as the gate saw it, when this call pasted
	sent   *snapshot // as it was at this call's last Enter
	enters int       // Enters of this call
}

// maxSteps bounds one call on a screen that never holds still: each refused deed
// is a step.
const maxSteps = 16

// unsteady is said when the screen kept moving between look and deed.
var unsteady = Outcome{State: Waiting, Reason: ReasonAgentBusy, Detail: "the screen does not hold still"}

// run follows the pane's mark: it is read, never remembered.
func (r *delivery) run(ctx context.Context) (Outcome, error) {
	for range maxSteps {
		v, err := r.look(ctx, r.Target, r.marks())
		if err != nil {
			return Outcome{}, err
		}
		var out Outcome
		switch v.step {
		case stepNone:
			out, err = r.begin(ctx, v)
		case stepPasted:
			r.typed = true
			out, err = r.enter(ctx)
		default:
			r.typed = true
			out, err = r.prove(ctx, v)
		}
		if err != nil || out.State != "" {
			return out, err
		}
	}
	return unsteady, nil
}

// failed turns an error of tmux into what is known.
func (r *delivery) failed(err error, out Outcome) (Outcome, error) {
	gone := errors.Is(err, ErrMoved) || errors.Is(err, ErrMissing)
	switch {
	case gone && r.typed:
		out.State, out.Reason, out.Detail = Indeterminate, ReasonIndeterminate, "the pane went away after the text was typed: "+err.Error()
	case errors.Is(err, ErrMissing):
		out.State, out.Reason, out.Detail = Blocked, ReasonMissingSession, err.Error()
	case gone, errors.Is(err, ErrUnavailable):
		out.State, out.Reason, out.Detail = Waiting, ReasonTmuxUnavailable, err.Error()
	default:
		return out, err
	}
	return out, nil
}

// pasteTries bounds how often a screen that moves between look and paste is
// looked at again before the caller waits.
const pasteTries = 5

// begin gates and pastes. No outcome means: look again.
func (r *delivery) begin(ctx context.Context, v snapshot) (Outcome, error) {
	for range pasteTries {
		if v.token >= r.Token {
			return Outcome{}, errkind.New(errkind.Conflict, "claim %d of event %d: the pane has seen claim %d", r.Token, r.Event, v.token).Wrap(ErrFenced)
		}
		if w := v.gate(r.Profile); !w.Open {
			return waitFor(w), nil
		}
		if v.typingNow(time.Now(), 2*r.pace.echo) {
			return Outcome{State: Waiting, Reason: ReasonAgentBusy, Detail: "another message is being typed: " + v.typing}, nil
		}
		done, err := r.tryPaste(ctx, v)
		if done || err != nil {
			return Outcome{}, err
		}
		if err := pause(ctx, r.pace.look); err != nil {
			return Outcome{}, err
		}
		if v, err = r.look(ctx, r.Target, r.marks()); err != nil || v.step != stepNone {
			return Outcome{}, err
		}
	}
	return unsteady, nil
}

// tryPaste pastes if the pane is as it was seen. An error of a tmux that was
// already told to paste leaves it open whether it did; the next look tells.
func (r *delivery) tryPaste(ctx context.Context, v snapshot) (bool, error) {
	buffer, err := r.load(ctx, r.Journal, r.Profile.frame(r.Text))
	if err != nil {
		return false, err
	}
	done, err := r.paste(ctx, r.Delivery, v, buffer)
	r.typed = done || errors.Is(err, ErrUnavailable)
	if done {
		r.before = &v
	}
	return done, err
}

func waitFor(w View) Outcome {
	state := Waiting
	if w.Blocked {
		state = Blocked
	}
	return Outcome{State: state, Reason: w.Reason, Detail: w.Detail}
}

// unsure is the third outcome, with its evidence.
func unsure(v snapshot, detail string) Outcome {
	return Outcome{State: Indeterminate, Reason: ReasonIndeterminate, Detail: detail, Evidence: v.cleaned()}
}

// enter waits until the composer shows exactly our text and then submits it.
// A state that cannot last is polled for the echo bound; then the caller waits.
func (r *delivery) enter(ctx context.Context) (Outcome, error) {
	if err := pause(ctx, r.Profile.Settle); err != nil {
		return Outcome{}, err
	}
	for until := r.pace.until(r.pace.echo); ; {
		v, err := r.look(ctx, r.Target, r.marks())
		if err != nil || v.step != stepPasted {
			return Outcome{}, err
		}
		if w := v.inputGate(r.Profile); w.Blocked {
			return unsure(v, "after the text was typed: "+w.Detail), nil
		} else if !w.Open {
			return waitFor(w), nil
		}
		late := time.Now().After(until)
		ready, out := r.ready(v, late)
		if ready {
			_, err := r.submit(ctx, r.Delivery, v)
			r.enters, r.sent = r.enters+1, &v
			return Outcome{}, r.settled(ctx, err) // sent or refused: the mark says which
		}
		if out.State != "" && late {
			return out, nil
		}
		if err := pause(ctx, r.pace.look); err != nil {
			return Outcome{}, err
		}
	}
}

// settled lets a refused or sent Enter show before the next look.
func (r *delivery) settled(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return pause(ctx, r.pace.look)
}

// ready reports whether our text, all of it and nothing else, is what an Enter
// would submit; otherwise what to say when that lasts.
func (r *delivery) ready(v snapshot, late bool) (bool, Outcome) {
	if r.Profile.Prompt == nil {
		return r.echoed(v), r.undrawn(v, "the text was never seen on the screen; not submitted")
	}
	c, found := findComposer(r.Profile, v.screen)
	if !found {
		return false, Outcome{State: Waiting, Reason: ReasonUnknownScreen, Detail: "the composer is out of sight"}
	}
	holds := c.holds(r.Profile, v.cursorY, r.Profile.frame(r.Text))
	if r.Profile.WaitIdle && first(r.Profile.Busy, v.screen) != "" && holds != holdsNothing {
		return false, Outcome{State: Waiting, Reason: ReasonAgentBusy, Detail: "the agent is in a turn"}
	}
	switch holds {
	case holdsOurs:
		return true, Outcome{}
	case holdsPart:
		if late && r.scrolled(v, c) {
			return true, Outcome{}
		}
	case holdsNothing:
		return false, r.emptied(v)
	}
	return false, Outcome{State: Waiting, Reason: ReasonHumanDraft, Detail: "somebody's text stands beside ours"}
}

// emptied judges an empty composer before any Enter of ours: a person submitted
// or removed the text, or it is not drawn yet.
func (r *delivery) emptied(v snapshot) Outcome {
	if r.Profile.WaitIdle && first(r.Profile.Busy, v.screen) != "" {
		return Outcome{State: Delivered, Detail: "submitted by hand"}
	}
	return r.undrawn(v, "the composer is empty, and no Enter of ours was sent")
}

// undrawn waits for a program that hangs: its input is not lost, and its text
// would stand in the composer once we had given up. The pane itself remembers
// since when, so that the bound holds over many calls and processes.
func (r *delivery) undrawn(v snapshot, detail string) Outcome {
	if v.typingNow(time.Now(), r.pace.blank) {
		return Outcome{State: Waiting, Reason: ReasonUnknownScreen, Detail: "typed, and not drawn yet"}
	}
	return unsure(v, detail)
}

// scrolled reports whether the composer is too small for our text and shows a
// substantial part of it, nothing else.
func (r *delivery) scrolled(v snapshot, c composer) bool {
	shown := c.content(r.Profile, "", false)
	return len(r.Text) > v.width*v.height/4 && len([]rune(shown)) >= 40
}
