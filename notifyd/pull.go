package notifyd

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/messaging"
)

// An Item is a message as its reader gets it.
type Item struct {
	messaging.Ref
	Message messaging.Message
	At      time.Time
	Unread  bool
	// Envelope is set, and Message empty, for a message that exists only as a
	// notification.
	Envelope *messaging.Envelope
}

// Pull reads what the pointer names: a message_id, ptr:msg:ID, or an inbox
// (arkamsg://inbox/ROLE), which gives the unread ones, oldest first. Nothing is
// marked as read: the door shows the items, then says so with [Mailroom.MarkRead],
// so that a reader killed in between finds them unread again.
func (m *Mailroom) Pull(ctx context.Context, what string) ([]Item, error) {
	pointer := messaging.Pointer{ID: messaging.ID(what)}
	if !messaging.ValidID(what) {
		var err error
		if pointer, err = messaging.ParsePointer(what); err != nil {
			return nil, err
		}
	}
	if pointer.Role != "" {
		return m.Inbox(ctx, pointer.Role)
	}
	item, err := m.fetch(ctx, pointer.ID)
	if err != nil {
		return nil, err
	}
	read, err := m.Journal.Exists(ctx, readID(item.ID))
	item.Unread = !read[readID(item.ID)]
	return []Item{item}, err
}

// Inbox returns the unread messages for a role, or for the role that an
// alias stands for, oldest first. Tests are not in it.
func (m *Mailroom) Inbox(ctx context.Context, reader messaging.Role) ([]Item, error) {
	if !messaging.ValidRole(string(reader)) {
		return nil, errkind.New(errkind.Invalid, "%q is not a role", string(reader)).
			WithHint("arkamsg sessions lists the roles")
	}
	d := directory(m.inForce.Load())
	role := d.RoleOf(string(reader))
	var found []messaging.Entry
	err := m.Tree.Scan(ctx, func(e messaging.Entry) error {
		if len(e.Problems) == 0 && d.RoleOf(string(e.Message.To)) == role {
			found = append(found, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b messaging.Entry) int { return a.At.Compare(b.At) })
	return m.unread(ctx, found)
}

// unread opens the entries that were neither read nor sent as a test.
func (m *Mailroom) unread(ctx context.Context, entries []messaging.Entry) ([]Item, error) {
	ids := make([]journal.MessageID, len(entries))
	for i, e := range entries {
		ids[i] = readID(e.ID)
	}
	read, err := m.Journal.Exists(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var items []Item
	for i, e := range entries {
		if read[ids[i]] || m.isTest(ctx, e.ID) {
			continue
		}
		msg, err := m.Tree.Read(e.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // taken away since it was listed
		}
		if err != nil {
			return nil, err
		}
		items = append(items, Item{Ref: e.Ref, Message: msg, At: e.At, Unread: true})
	}
	return items, nil
}

func (m *Mailroom) isTest(ctx context.Context, id messaging.ID) bool {
	rec, err := m.Journal.Get(ctx, journal.MessageID(id))
	return err == nil && rec.Test
}

// fetch finds a message by id: its file, else the notification that named it.
func (m *Mailroom) fetch(ctx context.Context, id messaging.ID) (Item, error) {
	ref, msg, err := m.Tree.Find(ctx, id)
	if err == nil {
		return Item{Ref: ref, Message: msg}, nil
	}
	if errkind.Of(err) != errkind.NotFound {
		return Item{}, err
	}
	rec, getErr := m.Journal.Get(ctx, journal.MessageID(id))
	if errors.Is(getErr, journal.ErrNotFound) {
		return Item{}, errkind.New(errkind.NotFound, "there is no message %s", id).
			WithHint("arkamsg pull --for ROLE lists the unread messages of a role")
	}
	if getErr != nil {
		return Item{}, getErr
	}
	env, err := messaging.ParseEnvelope(rec.Body)
	return Item{Ref: messaging.Ref{ID: id}, At: rec.CreatedAt, Envelope: &env}, err
}

// MarkRead records that the unread ones among the items were shown to their
// reader. A message that was read is not notified any more.
func (m *Mailroom) MarkRead(ctx context.Context, items []Item) error {
	var receipts []journal.NewEvent
	for _, it := range items {
		if it.Unread {
			receipts = append(receipts, journal.NewEvent{
				MessageID: readID(it.ID), Kind: journal.KindRead, Lane: "inbox", Body: []byte(`{}`), Fact: true,
			})
		}
	}
	if len(receipts) == 0 {
		return nil
	}
	results, err := m.Journal.AppendAll(ctx, receipts)
	for _, r := range results {
		err = errors.Join(err, r.Err)
	}
	return err
}

// readID names the receipt for a message that its reader has pulled. The colon
// keeps it out of the grammar of callers' ids.
func readID(id messaging.ID) journal.MessageID { return journal.MessageID("read:" + string(id)) }

// Await waits until the message has reached its end, or ctx has. It returns the
// latest record either way; Damaged when the journal was taken away meanwhile,
// because nobody else reads what this process still sees.
func (m *Mailroom) Await(ctx context.Context, id journal.MessageID) (journal.Record, error) {
	wait := 10 * time.Millisecond
	for {
		if err := m.Journal.CheckFiles(); err != nil {
			return journal.Record{}, err
		}
		rec, err := m.Journal.Get(context.WithoutCancel(ctx), id)
		if err != nil || rec.State == journal.Delivered || rec.State == journal.Failed {
			return rec, err
		}
		if !pause(ctx, wait) {
			return rec, nil
		}
		wait = min(2*wait, 250*time.Millisecond)
	}
}
