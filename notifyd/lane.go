package notifyd

import (
	"context"
	"errors"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/journal"
)

// runLane does the work of one lane, oldest first, until there is none that is
// due. ctx is the wish to stop, hard the loss of the office.
func (d *Daemon) runLane(ctx, hard context.Context, l journal.Lane) {
	defer d.leave(l)
	for ctx.Err() == nil && d.office.holds() {
		ticket, err := d.room.Journal.Claim(hard, l, d.office.holder, d.office.ttl, d.office.term)
		switch {
		case errors.Is(err, journal.ErrNoWork):
			return
		case errors.Is(err, journal.ErrStale), hard.Err() != nil:
			return // the office is lost; keep says so
		case err != nil:
			d.log.Error("lane cannot be claimed, trying again", "lane", l, "error", err)
			if !pause(ctx, time.Second) {
				return
			}
		default:
			crash.At("notifyd:after-claim")
			d.do(ctx, hard, ticket)
		}
	}
}

// do brings one ticket to its end, or leaves it for the next start.
func (d *Daemon) do(ctx, hard context.Context, t journal.Ticket) {
	log := d.log.With("message_id", t.Event.MessageID, "kind", t.Event.Kind, "attempt", t.Attempt)
	if t.Adopted {
		log.Info("taken over from an earlier daemon", "lane", t.Event.Lane)
	}
	for {
		err := d.routes[t.Event.Kind](hard, ctx.Done(), t)
		switch {
		case err == nil, errors.Is(err, journal.ErrStale):
			return
		case ctx.Err() != nil, hard.Err() != nil:
			return // still dispatched: the next daemon reads the mark and goes on
		}
		log.Error("step failed, trying again", "error", err)
		if !pause(ctx, time.Second) {
			return
		}
	}
}
