package notifyd

import (
	"context"
	"errors"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// Waiting for a gate to open looks again after pollMin, then ever less often,
// but never so rarely that leaving copy-mode is noticed late.
const (
	pollMin = 50 * time.Millisecond
	pollMax = 500 * time.Millisecond
)

// A parcel is one ticket on its way into a pane.
type parcel struct {
	ticket   journal.Ticket
	envelope messaging.Envelope
	address  sessions.Address
	target   sessions.Target // pinned; zero before
	touched  bool            // this daemon or an earlier one may have typed
	waits    journal.Reason  // as the journal has it
}

// toPane is the route of everything that is typed: notifications, returns and
// escalations. It ends with an outcome in the journal, or leaves the ticket
// dispatched because stop closed.
func (d *Daemon) toPane(ctx context.Context, stop <-chan struct{}, t journal.Ticket) error {
	env, err := messaging.ParseEnvelope(t.Event.Body)
	if err != nil {
		return d.fail(ctx, &parcel{ticket: t}, journal.ReasonInvalid, err.Error(), "")
	}
	p := &parcel{ticket: t, envelope: env, touched: t.Note != ""}
	if t.Event.Test && t.Event.Kind != journal.KindNotify {
		return d.deliver(ctx, p, "test: recorded, not typed")
	}
	for wait := pollMin; ; wait = min(2*wait, pollMax) {
		done, err := d.step(ctx, p)
		if err != nil || done {
			return err
		}
		if !pauseUntil(ctx, stop, wait) {
			return ctx.Err()
		}
	}
}

// step looks at the world once and goes as far as it allows. It reports true
// when the ticket has its outcome.
func (d *Daemon) step(ctx context.Context, p *parcel) (bool, error) {
	s := d.settings.Load()
	if read, err := d.alreadyRead(ctx, p); err != nil || read {
		return read, err
	}
	if err := d.aim(ctx, s, p); err != nil {
		return d.missed(ctx, p, err)
	}
	if !d.office.holds() {
		return false, journal.ErrStale
	}
	out, err := s.tmux.Deliver(ctx, sessions.Delivery{
		Target: p.target, Profile: s.profile(p.address.Provider),
		Journal: d.room.Journal.ID(), Event: int64(p.ticket.Event.ID), Token: p.ticket.Claim,
		Text: notification(s, p),
	})
	if err != nil {
		return d.missed(ctx, p, err)
	}
	return d.settle(ctx, s, p, out)
}

// alreadyRead ends a notification whose message was pulled meanwhile, unless it
// may stand in the composer already.
func (d *Daemon) alreadyRead(ctx context.Context, p *parcel) (bool, error) {
	if p.touched || p.ticket.Event.Kind != journal.KindNotify {
		return false, nil
	}
	id := readID(pointedAt(p.envelope))
	read, err := d.room.Journal.Exists(ctx, id)
	if err != nil || !read[id] {
		return false, err
	}
	return true, d.deliver(ctx, p, "already pulled, not notified")
}

var errGone = errkind.New(errkind.Refused, "the pane that the text may have been typed into is gone")

// aim makes sure that the parcel has a living target. A target that may have
// been typed into is kept whatever happens: another pane under the same name
// knows nothing of the mark that the first one bears.
func (d *Daemon) aim(ctx context.Context, s *settings, p *parcel) error {
	if err := address(s, p); err != nil {
		return err
	}
	if p.touched && p.target == (sessions.Target{}) {
		target, err := sessions.ParseTarget(p.ticket.Note)
		if err != nil {
			return err
		}
		p.target = target
	}
	if p.target != (sessions.Target{}) {
		alive, err := s.tmux.Alive(ctx, p.target)
		switch {
		case err != nil:
			return err
		case alive:
			return nil
		case p.touched:
			return errGone
		}
	}
	return d.pin(ctx, s, p)
}

// pin chooses the pane and writes the choice down before anything is typed.
func (d *Daemon) pin(ctx context.Context, s *settings, p *parcel) error {
	target, err := s.tmux.Pin(ctx, p.address.Session)
	if err != nil {
		return err
	}
	if err := d.room.Journal.Note(ctx, p.ticket, target.String()); err != nil {
		return err
	}
	crash.At("notifyd:after-pin")
	p.target, p.ticket.Note = target, target.String()
	return nil
}

// address applies alias, role and allow-list as they are now (ARKA §11).
func address(s *settings, p *parcel) error {
	e := p.envelope
	addr, err := s.directory.Address(sessions.Request{
		ToAgent: e.ToAgent, Session: e.Session, Project: e.Project,
		Provider: e.Provider, Prefix: e.SessionPrefix,
	})
	p.address = addr
	return err
}

// missed sorts what kept us from reaching the pane: BLOCK, or wait.
func (d *Daemon) missed(ctx context.Context, p *parcel, err error) (bool, error) {
	switch {
	case errors.Is(err, journal.ErrStale), ctx.Err() != nil:
		return false, err
	case errors.Is(err, errGone):
		return true, d.fail(ctx, p, journal.ReasonIndeterminate, errGone.Message, "")
	case errors.Is(err, sessions.ErrNotAllowed):
		return true, d.block(ctx, p, journal.ReasonNotAllowed, err.Error())
	case errors.Is(err, sessions.ErrMissing):
		return true, d.block(ctx, p, journal.ReasonMissingSession, err.Error())
	case errors.Is(err, sessions.ErrUnavailable):
		return false, d.wait(ctx, p, journal.ReasonTmuxUnavailable)
	default:
		return false, err
	}
}

// settle turns what sessions saw into what the journal keeps.
func (d *Daemon) settle(ctx context.Context, s *settings, p *parcel, out sessions.Outcome) (bool, error) {
	reason := journal.Reason(out.Reason)
	// A tmux that does not answer tells nothing about the mark; what was
	// possible before is still possible.
	p.touched = out.Typed || p.touched && reason == journal.ReasonTmuxUnavailable
	switch out.State {
	case sessions.Delivered:
		if err := d.deliver(ctx, p, out.Detail); err != nil {
			return false, err
		}
		crash.At("notifyd:after-record")
		d.forget(ctx, s, p)
		crash.At("notifyd:after-forget")
		return true, nil
	case sessions.Waiting:
		return false, d.wait(ctx, p, reason)
	case sessions.Blocked:
		return true, d.block(ctx, p, reason, out.Detail)
	case sessions.NotSubmitted:
		return true, d.again(ctx, s, p, out)
	default:
		return true, d.fail(ctx, p, journal.ReasonIndeterminate, out.Detail, out.Evidence)
	}
}

// wait notes what the parcel waits for, once: looking again costs no write.
func (d *Daemon) wait(ctx context.Context, p *parcel, reason journal.Reason) error {
	if p.waits == reason {
		return nil
	}
	if err := d.room.Journal.Wait(ctx, p.ticket, reason); err != nil {
		return err
	}
	d.log.Info("waiting", "message_id", p.ticket.Event.MessageID, "target", p.address.Session, "reason", reason)
	p.waits = reason
	return nil
}

// again counts the attempt and tries later, or gives up after the last one.
func (d *Daemon) again(ctx context.Context, s *settings, p *parcel, out sessions.Outcome) error {
	retry := s.file.Policy.Retry
	if p.ticket.Attempt >= retry.MaxAttempts {
		return d.fail(ctx, p, journal.ReasonAttemptsExhausted, out.Detail, out.Evidence)
	}
	after := retry.Before(p.ticket.Attempt + 1)
	return d.room.Journal.Retry(ctx, p.ticket, journal.Reason(out.Reason), out.Detail, after)
}

func (d *Daemon) deliver(ctx context.Context, p *parcel, detail string) error {
	err := d.room.Journal.Deliver(ctx, p.ticket, journal.Outcome{Detail: detail})
	if err == nil {
		d.opts.Observe(p.ticket, journal.Delivered, "")
		d.log.Info("delivered", "message_id", p.ticket.Event.MessageID, "kind", p.ticket.Event.Kind,
			"target", p.address.Session, "attempt", p.ticket.Attempt)
	}
	return err
}

// forget drops the mark of a message whose delivery is recorded. One that stays
// costs a few bytes in the pane's options and refuses nothing.
func (d *Daemon) forget(ctx context.Context, s *settings, p *parcel) {
	err := s.tmux.Forget(ctx, sessions.Delivery{
		Target: p.target, Journal: d.room.Journal.ID(), Event: int64(p.ticket.Event.ID),
	})
	if err != nil {
		d.log.Debug("mark not dropped", "message_id", p.ticket.Event.MessageID, "error", err)
	}
}

// pauseUntil waits and reports false if ctx ended or stop closed first.
func pauseUntil(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-stop:
		return false
	case <-timer.C:
		return true
	}
}
