package notifyd

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// Keys of the envelope's metadata in a return or an escalation. Its message_id
// and pointer are those of the message that it is about; only the event has an
// id of its own.
const (
	metaAgent     = "agent"     // IDAgent: whom the sender wanted, as written
	metaEscalated = "escalated" // role that was told
)

// block ends a message whose target cannot be typed into (ARKA §11): it fails
// with the reason, the sender is told and one escalation is made. All of it is
// one transaction, and the derived ids are unique, so neither a crash nor a
// second daemon can make two. Blocked again, after a person's retry, it fails
// again and nobody is told twice. What is itself a return or an escalation only
// fails.
func (d *Daemon) block(ctx context.Context, p *parcel, reason journal.Reason, detail string) error {
	consequences, err := d.consequences(ctx, p)
	if err != nil {
		return err
	}
	err = d.room.Journal.Update(ctx, func(tx *journal.Tx) error {
		if err := tx.Fail(p.ticket, reason, journal.Outcome{Detail: detail}); err != nil {
			return err
		}
		for _, e := range consequences {
			if _, err := tx.Append(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	crash.At("notifyd:after-block")
	d.opts.Observe(p.ticket, journal.Failed, reason)
	d.line(slog.LevelWarn, lineBlocked, p.ticket, keyReason, reason, keyConsequences, len(consequences))
	d.nudge() // returns and escalations open lanes of their own
	return nil
}

// consequences are the return to the sender, if there is one, and the
// escalation; without those that were made before.
func (d *Daemon) consequences(ctx context.Context, p *parcel) ([]journal.NewEvent, error) {
	if p.ticket.Event.Kind != journal.KindNotify {
		return nil, nil
	}
	s := d.settings.Load()
	told, counter := d.escalateTo(ctx, s, p.envelope.Sender)
	planned := []consequence{{journal.KindEscalation, "escalation:", told, counter}}
	if p.envelope.Sender != "" {
		sender := s.directory.RoleOf(p.envelope.Sender)
		planned = append(planned, consequence{journal.KindReturn, "return:", sender, journal.CounterReturned})
	}
	var events []journal.NewEvent
	for _, c := range planned {
		event, err := c.event(s, p, told)
		if err != nil {
			return nil, err
		}
		known, err := d.room.Journal.Exists(ctx, event.MessageID)
		if err != nil {
			return nil, err
		}
		if !known[event.MessageID] {
			events = append(events, event)
		}
	}
	return events, nil
}

// escalateTo is PMO by default; Owner when the sender is PMO or PMO is inactive.
func (d *Daemon) escalateTo(ctx context.Context, s *settings, sender string) (sessions.Role, string) {
	esc := s.file.Policy.Escalation
	role := sessions.Role(esc.Default)
	if s.directory.RoleOf(sender) == role || !d.active(ctx, s, role, esc.InactiveAfter) {
		return sessions.Role(esc.Fallback), journal.CounterEscalatedOwner
	}
	return role, journal.CounterEscalatedPMO
}

// active reports whether somebody is there to be told: the role's session
// exists and, when a limit is set, something happened in it since. A tmux that
// does not answer proves no absence.
func (d *Daemon) active(ctx context.Context, s *settings, role sessions.Role, within time.Duration) bool {
	addr, err := s.directory.Address(sessions.Request{ToAgent: string(role)})
	if err != nil {
		return false // not on the allow-list: nobody who could be told
	}
	target, err := s.tmux.Pin(ctx, addr.Session)
	if err != nil {
		return !isMissing(err)
	}
	if within <= 0 {
		return true
	}
	last, err := s.tmux.LastActivity(ctx, target)
	return err != nil || time.Since(last) <= within
}

// A consequence is who is to be told about a blocked message, and how.
type consequence struct {
	kind    journal.Kind
	prefix  string // of the event's id
	to      sessions.Role
	counter string
}

// event tells c.to about the parcel, and that told was told.
func (c consequence) event(s *settings, p *parcel, told sessions.Role) (journal.NewEvent, error) {
	addr, err := s.directory.Address(sessions.Request{ToAgent: string(c.to)})
	if err != nil && !errors.Is(err, sessions.ErrNotAllowed) {
		return journal.NewEvent{}, err
	}
	env := messaging.Envelope{
		Type: "notify", V: 1, MessageID: p.envelope.MessageID, TS: time.Now(),
		Session: string(addr.Session), Project: s.file.Project, ToAgent: string(c.to),
		Provider: orElse(addr.Provider, s.file.Provider), SessionPrefix: s.file.SessionPrefix, Sender: p.envelope.Sender,
		Resource: messaging.Resource{Pointer: messaging.Pointer{ID: pointedAt(p.envelope)}.String()},
	}
	note(&env, metaAgent, wanted(p.envelope))
	note(&env, metaEscalated, string(told))
	event, err := newEvent(env, false, p.ticket.Event.Test)
	event.MessageID, event.Kind = journal.MessageID(c.prefix)+p.ticket.Event.MessageID, c.kind
	event.Counter = c.counter
	return event, err
}

// wanted is the agent as the sender named it.
func wanted(e messaging.Envelope) string { return orElse(e.ToAgent, e.Session) }

// fail ends a ticket without further consequences: a dead letter.
func (d *Daemon) fail(ctx context.Context, p *parcel, reason journal.Reason, detail, evidence string) error {
	err := d.room.Journal.Fail(ctx, p.ticket, reason, journal.Outcome{Detail: detail, Evidence: evidence})
	if err == nil {
		d.opts.Observe(p.ticket, journal.Failed, reason)
		d.line(slog.LevelWarn, lineFailed, p.ticket, keyReason, reason)
	}
	return err
}

// Blocks reports whether a message that failed for this reason was blocked: by
// a rule, before anything was typed (ARKA §11).
func Blocks(r journal.Reason) bool {
	switch r {
	case journal.ReasonMissingSession, journal.ReasonNotAllowed, journal.ReasonTargetDead, journal.ReasonWrongProgram:
		return true
	}
	return false
}
