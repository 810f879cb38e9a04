package notifyd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
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
	ticket   journal.Ticket // its Note is the pane that may have been typed into, or ""
	envelope messaging.Envelope
	address  sessions.Address
	target   sessions.Target // the pane, as it was found last
	touched  bool            // this daemon or an earlier one may have typed
	waits    journal.Reason  // as the journal has it
}

// toPane is the route of everything that is typed: notifications, returns and
// escalations. It ends with an outcome in the journal, or leaves the ticket
// dispatched because stop closed. After an error it goes on with the same
// parcel: what it knows about the pane must outlive a journal that cannot be
// written for a while, or the text might be typed again elsewhere.
func (d *Daemon) toPane(ctx context.Context, stop <-chan struct{}, t journal.Ticket) error {
	p := &parcel{ticket: t, touched: t.Note != ""}
	var err error
	if p.envelope, err = messaging.ParseEnvelope(t.Event.Body); err != nil {
		return d.fail(ctx, p, journal.ReasonInvalid, err.Error(), "")
	}
	if t.Event.Test && t.Event.Kind != journal.KindNotify {
		return d.deliver(ctx, p, "test: recorded, not typed")
	}
	trouble := d.troubleWith(t)
	for wait := pollMin; ; wait = min(2*wait, pollMax) {
		done, err := d.step(ctx, p)
		switch {
		case err == nil && done:
			return nil
		case errors.Is(err, journal.ErrStale), ctx.Err() != nil:
			return err
		case err != nil:
			trouble.say(err)
			wait = afterError
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
	if open, err := d.aim(ctx, s, p); err != nil {
		return d.missed(ctx, s, p, err)
	} else if !open {
		return false, nil
	}
	if err := d.writeDown(ctx, p); err != nil {
		return false, err
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
		p.touched = p.touched || out.Typed
		return d.missed(ctx, s, p, err)
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

// missed sorts what kept us from reaching the pane: BLOCK, wait, or an error of
// our own, which says nothing about the pane.
func (d *Daemon) missed(ctx context.Context, s *settings, p *parcel, err error) (bool, error) {
	switch {
	case errors.Is(err, journal.ErrStale), ctx.Err() != nil:
		return false, err
	case errors.Is(err, errLost):
		return true, d.fail(ctx, p, journal.ReasonIndeterminate, err.Error(), "")
	case errors.Is(err, sessions.ErrNotAllowed):
		return true, d.block(ctx, p, journal.ReasonNotAllowed, err.Error())
	case errors.Is(err, sessions.ErrMissing):
		return true, d.block(ctx, p, journal.ReasonMissingSession, err.Error())
	case errors.Is(err, sessions.ErrUnavailable):
		return false, d.wait(ctx, p, journal.ReasonTmuxUnavailable)
	case errors.Is(err, sessions.ErrMoved):
		return false, nil // between two looks: the next one pins again
	case errors.Is(err, sessions.ErrFenced):
		return true, d.outrun(ctx, s, p, err)
	case errkind.Of(err) == errkind.Invalid:
		return true, d.fail(ctx, p, journal.ReasonInvalid, err.Error(), "")
	default:
		return false, err
	}
}

// outrun gives a claim back that is older than another one which typed into the
// same pane: from a lane of another name for it, or from a journal of which an
// older copy was put back. Nothing of ours was typed; a new claim may.
func (d *Daemon) outrun(ctx context.Context, s *settings, p *parcel, err error) error {
	p.touched = false
	return d.again(ctx, s, p, sessions.Outcome{Reason: sessions.ReasonAgentBusy, Detail: err.Error()})
}

// settle turns what sessions saw into what the journal keeps.
func (d *Daemon) settle(ctx context.Context, s *settings, p *parcel, out sessions.Outcome) (bool, error) {
	reason := journal.Reason(out.Reason)
	if out.State == sessions.Blocked && p.touched && reason == journal.ReasonMissingSession {
		return true, d.fail(ctx, p, journal.ReasonIndeterminate, errLost.Message, "")
	}
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

// wait notes what the parcel waits for, once: looking again costs no write. The
// pane is crossed out unless something was typed there, so that whoever takes
// over knows that nothing was.
func (d *Daemon) wait(ctx context.Context, p *parcel, reason journal.Reason) error {
	pane := p.pane()
	if p.waits == reason && p.ticket.Note == pane {
		return nil
	}
	err := d.room.Journal.Update(ctx, func(tx *journal.Tx) error {
		return errors.Join(tx.Wait(p.ticket, reason), tx.Note(p.ticket, pane))
	})
	if err != nil {
		return err
	}
	if p.waits != reason {
		d.line(slog.LevelInfo, lineWaiting, p.ticket, keyReason, reason)
	}
	p.waits, p.ticket.Note = reason, pane
	return nil
}

// pane is what the journal has to remember between two steps.
func (p *parcel) pane() string {
	if p.touched {
		return p.ticket.Note
	}
	return ""
}

// again counts the attempt and tries later, or gives up after the last one.
func (d *Daemon) again(ctx context.Context, s *settings, p *parcel, out sessions.Outcome) error {
	retry := s.file.Policy.Retry
	if p.ticket.Attempt >= retry.MaxAttempts {
		return d.fail(ctx, p, journal.ReasonAttemptsExhausted, out.Detail, out.Evidence)
	}
	reason, after := cmp.Or(journal.Reason(out.Reason), journal.ReasonEnterSwallowed), retry.Before(p.ticket.Attempt+1)
	err := d.room.Journal.Update(ctx, func(tx *journal.Tx) error {
		return errors.Join(tx.Note(p.ticket, p.pane()), tx.Retry(p.ticket, reason, out.Detail, after))
	})
	if err == nil {
		d.line(slog.LevelInfo, lineRetried, p.ticket, keyReason, reason, keyAfter, after.Milliseconds())
	}
	return err
}

func (d *Daemon) deliver(ctx context.Context, p *parcel, detail string) error {
	err := d.room.Journal.Deliver(ctx, p.ticket, journal.Outcome{Detail: detail})
	if err == nil {
		d.opts.Observe(p.ticket, journal.Delivered, "")
		d.line(slog.LevelInfo, lineDelivered, p.ticket)
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
		d.log.Debug("mark not dropped", keyMessage, p.ticket.Event.MessageID, keyError, err)
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
