package notifyd

import (
	"context"
	"errors"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/sessions"
)

// errLost: the fate of what may have been typed cannot be seen any more.
var errLost = errkind.New(errkind.Refused, "the pane that the text may have been typed into is gone")

// aim finds the parcel's pane and reports whether the gate may be open. The name
// is resolved anew each time, so a session that was renamed or replaced while
// the parcel waited is seen. Only a pane that may have been typed into is kept
// whatever happens: another one under the same name knows nothing of the mark
// that the first one bears.
func (d *Daemon) aim(ctx context.Context, s *settings, p *parcel) (open bool, err error) {
	err = address(s, p)
	if p.touched {
		return true, d.returnTo(ctx, s, p, err)
	}
	if err == nil {
		p.target, err = s.tmux.Pin(ctx, p.address.Session)
	}
	if err != nil || p.waits == "" {
		return true, err
	}
	return d.peek(ctx, s, p)
}

// returnTo aims at the pane that was written down.
func (d *Daemon) returnTo(ctx context.Context, s *settings, p *parcel, refused error) error {
	if refused != nil {
		return errkind.New(errkind.Refused, "the text may have been typed before this: %s", refused).Wrap(errLost)
	}
	target, err := sessions.ParseTarget(p.ticket.Note)
	if err != nil {
		return errors.Join(errLost, err)
	}
	alive, err := s.tmux.Alive(ctx, target)
	if err == nil && !alive {
		err = errLost
	}
	p.target = target
	return err
}

// peek looks through a gate that was shut. Nothing can be typed by a look, so
// nothing has to be written down before it.
func (d *Daemon) peek(ctx context.Context, s *settings, p *parcel) (open bool, err error) {
	view, err := s.tmux.Look(ctx, p.target, s.profile(p.address.Provider))
	if err != nil || view.Open || view.Blocked {
		return true, err
	}
	return false, d.wait(ctx, p, journal.Reason(view.Reason))
}

// writeDown notes the pane before anything may be typed into it.
func (d *Daemon) writeDown(ctx context.Context, p *parcel) error {
	pane := p.target.String()
	if p.ticket.Note == pane {
		return nil
	}
	if err := d.room.Journal.Note(ctx, p.ticket, pane); err != nil {
		return err
	}
	crash.At("notifyd:after-pin")
	p.ticket.Note = pane
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
