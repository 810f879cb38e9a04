package journal

import (
	"regexp"
	"time"
)

// EventID is the place of an event in the journal, from 1, without gaps.
type EventID int64

// MessageID is the caller's idempotency key, unique for ever (ARKA §10).
type MessageID string

// Kind chooses the route of an event.
type Kind string

// Lane is a queue: its work is done in order and one at a time. For notify it
// is the target session.
type Lane string

// Holder names who has work in hand.
type Holder string

// Fence counts the claims of one event. It only rises.
type Fence int64

// Term counts leaderships. 0 is work that is not the daemon's.
type Term int64

// Kinds that the rest of arkamsg appends.
const (
	KindNotify     Kind = "notify"
	KindReturn     Kind = "return_to_sender"
	KindEscalation Kind = "escalation"
	KindPersist    Kind = "competence.persist"
	KindTrace      Kind = "learning.trace"
	KindJob        Kind = "job"
	KindMessage    Kind = "message"       // a fact: a file was published
	KindRead       Kind = "read"          // a fact: a read receipt
	KindLoss       Kind = "loss_accepted" // a fact: a person accepted damage
)

// State is where the work of an event stands.
type State string

const (
	// Queued: appended, retried or revived. Claim takes it out when it is the
	// head of its lane and due; if nobody claims, it waits for ever, visibly.
	Queued State = "queued"
	// Dispatched: somebody claimed it. Deliver, Retry or Fail take it out. If its
	// holder dies, the next claim takes it over: a daemon of a later term at
	// once, anybody else when the lease has run out.
	Dispatched State = "dispatched"
	// Delivered: Deliver, or a fact at its append. Terminal.
	Delivered State = "delivered"
	// Failed: Fail or Cancel. Terminal, except that a dead letter may be revived
	// by a person (RetryDead), with the fence going on.
	Failed State = "failed"
)

// Reason says why something waits, was tried again or failed (CONTRACT.md).
type Reason string

// The closed list of reasons of a delivery.
const (
	ReasonMissingSession    Reason = "missing_session"
	ReasonNotAllowed        Reason = "not_allowed"
	ReasonTargetDead        Reason = "target_dead"
	ReasonWrongProgram      Reason = "wrong_program"
	ReasonPaneInMode        Reason = "pane_in_mode"
	ReasonPaneSynchronized  Reason = "pane_synchronized"
	ReasonInputOff          Reason = "input_off"
	ReasonHumanDraft        Reason = "human_draft"
	ReasonDialogOpen        Reason = "dialog_open"
	ReasonAgentBusy         Reason = "agent_busy"
	ReasonUnknownScreen     Reason = "unknown_screen"
	ReasonTmuxUnavailable   Reason = "tmux_unavailable"
	ReasonEnterSwallowed    Reason = "enter_swallowed" // pasted, not submitted: tried again
	ReasonAttemptsExhausted Reason = "attempts_exhausted"
	ReasonIndeterminate     Reason = "indeterminate"
	ReasonInvalid           Reason = "invalid"
	ReasonCancelled         Reason = "cancelled" // by a person, before or while it was done
)

// Reasons lists the reasons above; jobs and competences have their own besides.
var Reasons = []Reason{
	ReasonMissingSession, ReasonNotAllowed, ReasonTargetDead, ReasonWrongProgram,
	ReasonPaneInMode, ReasonPaneSynchronized, ReasonInputOff, ReasonHumanDraft,
	ReasonDialogOpen, ReasonAgentBusy, ReasonUnknownScreen, ReasonTmuxUnavailable,
	ReasonEnterSwallowed, ReasonAttemptsExhausted, ReasonIndeterminate, ReasonInvalid, ReasonCancelled,
}

var reasonGrammar = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)

// NewEvent is what Append takes.
type NewEvent struct {
	MessageID MessageID
	Kind      Kind
	Lane      Lane
	Body      []byte // JSON; compared byte by byte when the id comes again
	Counter   string // counter that this event adds 1 to; "" for none
	Test      bool   // kept out of counters and inboxes
	Fact      bool   // no work: delivered at once
}

// Event is an immutable fact in the journal.
type Event struct {
	ID        EventID
	MessageID MessageID
	Kind      Kind
	Lane      Lane
	Body      []byte
	Counter   string
	Test      bool
	Fact      bool
	CreatedAt time.Time
}

// Receipt answers an append. The receipts of one id differ only in Created and
// in what has happened since.
type Receipt struct {
	MessageID MessageID
	EventID   EventID
	State     State
	Created   bool // false: this id and body were here before
	Reason    Reason
}

// Ticket is work in hand. Every later call names its fence (and term), so that
// a ticket that was taken over can change nothing.
type Ticket struct {
	Event      Event
	Attempt    int
	Fence      Fence
	Holder     Holder
	Term       Term
	Claim      int64 // rises with every claim of the journal
	Adopted    bool  // taken over from an older term: look before you act
	LeaseUntil time.Time
	Note       string // what an earlier holder wrote down for us; see Note
}

// Outcome is what is kept about the end of work.
type Outcome struct {
	Detail   string // one line for people
	Result   []byte // Deliver: the answer, kept with the history
	Evidence string // Fail: what was seen, e.g. the cleaned screen
}

// Transition is one step in the history of an event.
type Transition struct {
	At       time.Time
	State    State
	Attempt  int
	Reason   Reason
	Detail   string
	Evidence string
	Holder   Holder
	Term     Term
	Fence    Fence
	Step     Step
}

// Record is an event with what became of it.
type Record struct {
	Event
	State      State
	Reason     Reason
	Attempts   int
	FinishedAt time.Time // zero while there is work left
	History    []Transition
	Result     []byte
	Archive    string // base name of the archive file it was found in, or ""
}
