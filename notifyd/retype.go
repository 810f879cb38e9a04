package notifyd

import (
	"context"
	"errors"

	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// Retype takes a dead letter's mark off the pane, so that a retry types it
// again. It is a person's word that the message did not arrive, given after
// looking at the evidence; nothing in arkamsg decides that by itself.
func (m *Mailroom) Retype(ctx context.Context, l journal.DeadLetter) error {
	rec, err := m.Journal.Get(ctx, l.MessageID)
	if err != nil {
		return err
	}
	env, err := messaging.ParseEnvelope(rec.Body)
	if err != nil {
		return err
	}
	addr, err := m.address(sessions.Request{
		ToAgent: env.ToAgent, Session: env.Session, Project: env.Project,
		Provider: env.Provider, Prefix: env.SessionPrefix,
	})
	if err != nil {
		return err
	}
	tmux := Tmux(m.inForce.Load(), m.log)
	target, err := tmux.Pin(ctx, addr.Session)
	if errors.Is(err, sessions.ErrMissing) {
		return nil // no pane, no mark
	}
	if err != nil {
		return err
	}
	return tmux.Forget(ctx, sessions.Delivery{Target: target, Journal: m.Journal.ID(), Event: int64(rec.ID)})
}
