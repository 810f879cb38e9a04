package notifyd

import (
	"context"
	"log/slog"

	"arkamsg/journal"
)

// Keys of the log's attributes. They are what people and programs search for:
// added to, never renamed. Neither bodies nor screens nor secrets are logged.
const (
	keyMessage      = "message_id"
	keyKind         = "kind"
	keyTarget       = "target"
	keyAttempt      = "attempt"
	keyReason       = "reason"
	keyState        = "state"
	keyAfter        = "after_ms"
	keyConsequences = "consequences"
	keyLane         = "lane"
	keyTerm         = "term"
	keyHome         = "home"
	keyPath         = "path"
	keyField        = "field"
	keyEvents       = "events"
	keyFirst        = "first"
	keyRemedy       = "remedy"
	keyError        = "error"
)

// The lines of a message's life, one per transition, after it was recorded.
const (
	lineDispatched = "dispatched"
	lineAdopted    = "taken over from an earlier daemon"
	lineWaiting    = "waiting" // once per reason; not a transition, but what people look for
	lineRetried    = "to be tried again"
	lineDelivered  = "delivered"
	lineBlocked    = "blocked"
	lineFailed     = "failed"
	lineEnded      = "ended" // of work that is not typed
)

// line logs what became of a ticket.
func (d *Daemon) line(level slog.Level, what string, t journal.Ticket, more ...any) {
	d.log.Log(context.Background(), level, what, append([]any{
		keyMessage, t.Event.MessageID, keyKind, t.Event.Kind, keyTarget, Target(t.Event.Lane), keyAttempt, t.Attempt,
	}, more...)...)
}
