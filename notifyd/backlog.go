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
	defer drain(changes)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	complaint := trouble{log: d.log}
	for {
		if err := d.tendBacklog(ctx); err != nil && ctx.Err() == nil {
			complaint.say(err)
		}
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

// tendBacklog goes on after an error: what cannot be repaired now is tried again
// and must not keep hand-written files waiting.
func (d *Daemon) tendBacklog(ctx context.Context) error {
	err := d.room.Repair(ctx)
	if d.settings.Load().file.Messaging.AnnounceFiles {
		err = errors.Join(err, d.announce(ctx))
	}
	return err
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

// complete carries out what a dead push had intended, and ends the intention. A
// push that would be refused now was never acknowledged: it is dropped, so that
// its id is free for the sender's next try.
func (m *Mailroom) complete(ctx context.Context, in *messaging.Intention) error {
	env, err := messaging.ParseEnvelope(in.Envelope)
	if err == nil {
		_, err = m.finish(ctx, env, Draft{Draft: in.Draft, NoNotify: !in.Notify, Test: noted(env, metaTest) != ""})
	}
	id := in.Draft.Message.MessageID
	switch {
	case err == nil:
		m.log.Info("finished a push that was killed", keyMessage, id)
	case refused(err):
		m.log.Warn("dropped a push that was killed before it began", keyMessage, id, keyError, err)
		err = nil
	}
	return errors.Join(err, conclude(in, err))
}

// announceSince is the fact that remembers when announcing was switched on;
// files that are older were never meant to be announced.
const announceSince journal.MessageID = "announce:since"

// fileClock is how far a file's time may lag behind ours: the kernel stamps files
// by its last tick, and some file systems keep whole seconds.
const fileClock = time.Second

// announce appends a notification for every valid file that has none.
func (d *Daemon) announce(ctx context.Context) error {
	since, err := d.announcingSince(ctx)
	if err != nil {
		return err
	}
	var all error
	err = d.room.Tree.Scan(ctx, func(e messaging.Entry) error {
		if len(e.Problems) == 0 && !e.ModTime.Before(since.Add(-fileClock)) {
			all = errors.Join(all, d.announceFile(ctx, e))
		}
		return ctx.Err()
	})
	return errors.Join(all, err)
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

// announceFile leaves a file alone that a push is responsible for: between its
// file and its event the push has an entry in the outbox, and the entry goes
// after the event has come. Hence the order of the questions.
func (d *Daemon) announceFile(ctx context.Context, e messaging.Entry) error {
	if known, err := d.isKnown(ctx, e.ID); err != nil || known {
		return err
	}
	if underway, err := d.room.Tree.Underway(e.ID); err != nil || underway {
		return err
	}
	if known, err := d.isKnown(ctx, e.ID); err != nil || known {
		return err
	}
	msg := e.Message
	msg.MessageID = e.ID
	env, err := d.room.envelope(Draft{Draft: messaging.Draft{Message: msg, At: e.ModTime}}, "")
	if err != nil {
		return err
	}
	note(&env, metaPath, e.Path)
	event, err := newEvent(env, false, false)
	if err != nil {
		return err
	}
	_, err = d.room.Journal.Append(ctx, event)
	return err
}

// isKnown reports whether the message was sent, published or read.
func (d *Daemon) isKnown(ctx context.Context, id messaging.ID) (bool, error) {
	known, err := d.room.Journal.Exists(ctx, eventID(id, false), eventID(id, true), readID(id))
	for _, yes := range known {
		if yes {
			return true, err
		}
	}
	return false, err
}
