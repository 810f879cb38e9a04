package sessions

import "errors"

// Name is a tmux session name as people know it. It never becomes a tmux
// target: it is compared in Go, and only ids travel.
type Name string

// Role is the part an agent plays (PMO, LD …); ARKA §2.
type Role string

// Reason says why nothing (more) was typed. The words are those of CONTRACT
// "Reasons", so they can be stored and shown as they are.
type Reason string

// The reasons of this package.
const (
	ReasonMissingSession  Reason = "missing_session"   // no such session, or no tmux server
	ReasonNotAllowed      Reason = "not_allowed"       // not in the allow-list
	ReasonTargetDead      Reason = "target_dead"       // the pane's program has ended (remain-on-exit)
	ReasonWrongProgram    Reason = "wrong_program"     // a shell, or another program than the profile expects
	ReasonPaneInMode      Reason = "pane_in_mode"      // copy-mode, choose-tree …: somebody reads there
	ReasonInputOff        Reason = "input_off"         // select-pane -d
	ReasonSynchronized    Reason = "pane_synchronized" // keys would reach other panes too
	ReasonHumanDraft      Reason = "human_draft"       // somebody's half-typed line is in the composer
	ReasonDialogOpen      Reason = "dialog_open"       // an Enter would answer it
	ReasonAgentBusy       Reason = "agent_busy"        // in a turn, or the screen does not hold still
	ReasonUnknownScreen   Reason = "unknown_screen"    // no composer that the profile knows
	ReasonTmuxUnavailable Reason = "tmux_unavailable"  // tmux did not answer, or moved under us
	ReasonIndeterminate   Reason = "indeterminate"     // typed, and what became of it is not known
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrMissing: the session is not there, or no server is. Refused.
	ErrMissing = errors.New("no such session")
	// ErrMoved: the pinned pane is no longer what was pinned. Pin again.
	ErrMoved = errors.New("the pinned pane is gone")
	// ErrUnavailable: tmux gave no answer in time, or none that can be used.
	ErrUnavailable = errors.New("tmux is unavailable")
	// ErrFenced: a newer claim has already typed into this pane.
	ErrFenced = errors.New("a newer claim typed into this pane")
)
