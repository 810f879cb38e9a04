package notifyd

import (
	"context"
	"errors"
	"time"

	"arkamsg/internal/watch"
	"arkamsg/journal"
	"arkamsg/messaging"
)

// followBacklog finishes what killed senders left half done and, when
// announce_files is on, announces files that were written by hand. It looks at
// the start, when the tree changes, and with every sweep.
func (d *Daemon) followBacklog(ctx context.Context) error {
	folder, err := d.room.Tree.Folder()
	if err != nil {
		return err
	}
	changes, err := watch.Tree(ctx, folder)
	if err != nil {
		return err
	}
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		d.tendBacklog(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-sweep.C:
		case <-changes:
			if !settled(ctx, changes) {
				return nil
			}
		}
	}
}

func (d *Daemon) tendBacklog(ctx context.Context) {
	if err := d.room.Repair(ctx); err != nil && ctx.Err() == nil {
		d.log.Error("an interrupted push cannot be finished", "error", err)
	}
	if !d.settings.Load().file.Messaging.AnnounceFiles {
		return
	}
	if err := d.announce(ctx); err != nil && ctx.Err() == nil {
		d.log.Error("files written by hand cannot be announced", "error", err)
	}
}

// Repair finishes every push whose process died between its intent and its
// event. It may run beside living pushes and other repairs: an intent is locked
// by whoever works on it, and each step recognises that it was done.
func (m *Mailroom) Repair(ctx context.Context) error {
	pending, all := m.Tree.Pending(ctx) // what cannot be read does not hide the rest
	for _, p := range pending {
		all = errors.Join(all, m.complete(ctx, p))
	}
	return all
}

// complete carries out what a dead push had intended, and ends the intention.
func (m *Mailroom) complete(ctx context.Context, in *messaging.Intention) error {
	env, err := messaging.ParseEnvelope(in.Envelope)
	if err == nil {
		_, err = m.finish(ctx, env, Draft{Draft: in.Draft, NoNotify: !in.Notify})
	}
	if err != nil {
		in.Release()
		return err
	}
	m.log.Info("finished a push that was killed", "message_id", env.MessageID)
	return in.Done()
}

// announceSince is the fact that remembers when announcing was switched on;
// files that are older were never meant to be announced.
const announceSince journal.MessageID = "announce:since"

// announce appends a notification for every valid file that has none.
func (d *Daemon) announce(ctx context.Context) error {
	since, err := d.announcingSince(ctx)
	if err != nil {
		return err
	}
	return d.room.Tree.Scan(ctx, func(e messaging.Entry) error {
		if len(e.Problems) > 0 || e.ModTime.Before(since) {
			return nil
		}
		return d.announceFile(ctx, e)
	})
}

func (d *Daemon) announcingSince(ctx context.Context) (time.Time, error) {
	rec, err := d.room.Journal.Get(ctx, announceSince)
	if err == nil {
		return rec.CreatedAt, nil
	}
	if !errors.Is(err, journal.ErrNotFound) {
		return time.Time{}, err
	}
	_, err = d.room.Journal.Append(ctx, journal.NewEvent{
		MessageID: announceSince, Kind: journal.KindMessage, Lane: "backlog", Body: []byte(`{}`), Fact: true,
	})
	return time.Now(), err
}

func (d *Daemon) announceFile(ctx context.Context, e messaging.Entry) error {
	ids := []journal.MessageID{eventID(e.ID, false), eventID(e.ID, true), readID(e.ID)}
	known, err := d.room.Journal.Exists(ctx, ids...)
	if err != nil || known[ids[0]] || known[ids[1]] || known[ids[2]] {
		return err
	}
	msg := e.Message
	msg.MessageID = e.ID
	env, err := d.room.envelope(Draft{Draft: messaging.Draft{Message: msg, At: e.ModTime}}, "")
	if err != nil {
		d.log.Warn("file not announced", "path", e.Path, "error", err)
		return nil
	}
	note(&env, metaPath, e.Path)
	event, err := newEvent(env, false, false)
	if err != nil {
		return err
	}
	_, err = d.room.Journal.Append(ctx, event)
	return err
}
