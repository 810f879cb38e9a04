package notifyd

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/journal"
)

// afterError is the pause before something that failed is tried again.
const afterError = time.Second

// runLane does the work of one lane, oldest first, until there is none that is
// due. ctx is the wish to stop, hard the loss of the office.
func (d *Daemon) runLane(ctx, hard context.Context, l journal.Lane) {
	defer d.leave(l)
	trouble := trouble{log: d.log.With(keyLane, l)}
	for ctx.Err() == nil && d.office.holds() {
		ticket, err := d.room.Journal.Claim(hard, l, d.office.holder, d.office.ttl, d.office.term)
		switch {
		case errors.Is(err, journal.ErrNoWork), hard.Err() != nil:
			return
		case errors.Is(err, journal.ErrStale):
			d.office.doubt()
			pause(ctx, afterError) // the end of the office ends this as well
			return
		case err != nil:
			trouble.say(err)
			pause(ctx, afterError)
		default:
			crash.At("notifyd:after-claim")
			d.do(ctx, hard, ticket)
		}
	}
}

// do brings one ticket to its end, or leaves it for the next start.
func (d *Daemon) do(ctx, hard context.Context, t journal.Ticket) {
	trouble := d.troubleWith(t)
	began := lineDispatched
	if t.Adopted {
		began = lineAdopted
	}
	d.line(slog.LevelInfo, began, t)
	for {
		err := d.routes[t.Event.Kind](hard, ctx.Done(), t)
		switch {
		case err == nil:
			d.ended(hard, t)
			return
		case errors.Is(err, journal.ErrStale):
			return
		case ctx.Err() != nil, hard.Err() != nil:
			return // still dispatched: the next daemon reads the mark and goes on
		}
		trouble.say(err)
		if !pause(ctx, afterError) {
			return
		}
	}
}

// ended logs the outcome of work whose route does not log it itself.
func (d *Daemon) ended(ctx context.Context, t journal.Ticket) {
	switch t.Event.Kind {
	case journal.KindNotify, journal.KindReturn, journal.KindEscalation:
		return
	}
	if r, err := d.room.Journal.Get(ctx, t.Event.MessageID); err == nil {
		d.line(slog.LevelInfo, lineEnded, t, keyState, r.State, keyReason, r.Reason)
	}
}

// trouble is something that fails and is tried again. It is logged once for as
// long as it stays the same.
type trouble struct {
	log  *slog.Logger
	last string
}

func (d *Daemon) troubleWith(t journal.Ticket) *trouble {
	return &trouble{log: d.log.With(keyMessage, t.Event.MessageID, keyKind, t.Event.Kind, keyAttempt, t.Attempt)}
}

func (t *trouble) say(err error) {
	if said := err.Error(); said != t.last {
		t.log.Error("step failed, trying again", keyError, said)
		t.last = said
	}
}
