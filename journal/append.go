package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"arkamsg/internal/errkind"
)

// maxBody bounds an event's body in bytes.
const maxBody = 4 << 20

// Append records an event, once: the same id with the same kind and body is
// answered with the first one's receipt, with another body it is a Conflict.
// When Append returns nil the event survives kill -9 and a power cut.
func (j *Journal) Append(ctx context.Context, ne NewEvent) (r Receipt, err error) {
	if err := j.roomToAppend(); err != nil {
		return r, err
	}
	err = j.update(ctx, func(tx *Tx) error {
		r, err = tx.Append(ne)
		return err
	})
	if err != nil {
		return Receipt{}, err
	}
	return r, nil
}

// AppendResult answers one event of a batch.
type AppendResult struct {
	Receipt Receipt
	Err     error // this event was refused; the others were not
}

// AppendAll appends a batch in order and in one transaction. An event that is
// refused by itself does not keep the others out; the error is that of the
// whole batch, of which nothing was kept then.
func (j *Journal) AppendAll(ctx context.Context, batch []NewEvent) (out []AppendResult, err error) {
	if err := j.roomToAppend(); err != nil {
		return nil, err
	}
	err = j.update(ctx, func(tx *Tx) error {
		out, err = tx.appendAll(batch)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (tx *Tx) appendAll(batch []NewEvent) ([]AppendResult, error) {
	out := make([]AppendResult, len(batch))
	for i, ne := range batch {
		r, err := tx.Append(ne)
		if k := errkind.Of(err); err != nil && k != errkind.Conflict && k != errkind.Invalid {
			return nil, err
		}
		out[i] = AppendResult{r, err}
	}
	return out, nil
}

// roomToAppend refuses new events while the disk reserve is gone, so that what
// is left serves the work in hand.
func (j *Journal) roomToAppend() error {
	if err := j.reserve.ensure(); err != nil {
		return errkind.New(errkind.NotNow, "the disk of %s is full; nothing was accepted", j.home).Wrap(err).
			WithHint("free space on that disk, then repeat with the same id")
	}
	return nil
}

// Append is the twin of Journal.Append.
func (tx *Tx) Append(ne NewEvent) (Receipt, error) {
	if err := ne.validate(); err != nil {
		return Receipt{}, err
	}
	e := Event{
		MessageID: ne.MessageID, Kind: ne.Kind, Lane: ne.Lane, Body: ne.Body,
		Counter: ne.Counter, Test: ne.Test, Fact: ne.Fact, CreatedAt: tx.j.clock.Wall(),
	}
	if tx.events == nil && tx.j.known.seq > 0 { // a guess that holds while nobody else appends
		if created, err := tx.insertEvent(&e, tx.j.known); created || err != nil {
			return tx.begun(e, err)
		}
	}
	if err := tx.eventTail(); err != nil {
		return Receipt{}, err
	}
	if created, err := tx.insertEvent(&e, *tx.events); created || err != nil {
		return tx.begun(e, err)
	}
	if r, found, err := tx.archivedRepeat(ne); found || err != nil {
		return r, err
	}
	return tx.repeat(ne)
}

// insertEvent adds a link to the chain after the given end. False: that is not
// its end, or the message_id is taken, here or in an archive. The next number is
// taken when somebody else appended, or archived when that was long ago.
func (tx *Tx) insertEvent(e *Event, after link) (bool, error) {
	e.ID = EventID(after.seq + 1)
	d := hashEvent(after.hash, *e)
	res, err := tx.sql.Exec(`INSERT INTO event(id, message_id, kind, lane, body, counter, test, fact, created_at, hash)
		SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10
		WHERE NOT EXISTS(SELECT 1 FROM archived WHERE message_id = ?2)
			AND ?1 > coalesce((SELECT last FROM anchor WHERE chain = 'event' ORDER BY first DESC LIMIT 1), 0)
		ON CONFLICT DO NOTHING`,
		e.ID, e.MessageID, e.Kind, e.Lane, e.Body, e.Counter, bit(e.Test), bit(e.Fact), e.CreatedAt.UnixMilli(), d[:])
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return false, err
	}
	tx.events = &link{int64(e.ID), d}
	return true, nil
}

// begun gives a new event its work and counts it.
func (tx *Tx) begun(e Event, err error) (Receipt, error) {
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{MessageID: e.MessageID, EventID: e.ID, State: Delivered, Created: true}
	if !e.Fact {
		r.State = Queued
		tx.appended = true
		if err := tx.insertWork(e, progress{}); err != nil {
			return Receipt{}, err
		}
	}
	return r, tx.count(countersOfEvent(e))
}

func (tx *Tx) insertWork(e Event, p progress) error {
	_, err := tx.sql.Exec(`INSERT INTO work(lane, event_id, kind, test, state, attempt, fence, n) VALUES(?,?,?,?,'queued',?,?,?)`,
		e.Lane, e.ID, e.Kind, bit(e.Test), p.attempt, p.fence, p.n)
	return err
}

// repeat answers an id that is in the journal already.
func (tx *Tx) repeat(ne NewEvent) (Receipt, error) {
	e, err := tx.event(ne.MessageID)
	if err != nil {
		return Receipt{}, err
	}
	if e.Kind != ne.Kind || !bytes.Equal(e.Body, ne.Body) {
		return Receipt{}, conflict(ne.MessageID)
	}
	p, err := tx.standing(e)
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{MessageID: e.MessageID, EventID: e.ID, State: p.state, Reason: p.reason}, tx.count(duplicate(e.Test))
}

func duplicate(test bool) []string {
	if test {
		return nil
	}
	return []string{CounterDuplicates}
}

func conflict(id MessageID) error {
	return errkind.New(errkind.Conflict, "message_id %q was used for another message", string(id)).
		WithHint("see it: arkamsg show %s; send the new one under another id", string(id))
}

// archivedRepeat answers an id whose event has been moved to an archive.
func (tx *Tx) archivedRepeat(ne NewEvent) (r Receipt, found bool, err error) {
	var d digest
	var b []byte
	err = tx.sql.QueryRow(`SELECT event_id, state, reason, digest FROM archived WHERE message_id=?`, ne.MessageID).
		Scan(&r.EventID, &r.State, &r.Reason, &b)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if d.scan(b); d != bodyDigest(ne.Kind, ne.Body) {
		return Receipt{}, true, conflict(ne.MessageID)
	}
	r.MessageID = ne.MessageID
	return r, true, tx.count(duplicate(ne.Test))
}

// validate lists all that is wrong with a new event.
func (ne NewEvent) validate() error {
	var ps []errkind.Problem
	bad := func(field, format string, args ...any) {
		ps = append(ps, errkind.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if !plainName(string(ne.MessageID), 200) {
		bad("message_id", "must be 1 to 200 printable ASCII characters without spaces")
	}
	if !plainName(string(ne.Kind), 64) {
		bad("kind", "must be 1 to 64 printable ASCII characters without spaces")
	}
	if !ne.Fact && ne.Lane == "" || len(ne.Lane) > 1024 || !utf8.ValidString(string(ne.Lane)) {
		bad("lane", "must be valid UTF-8 of 1 to 1024 bytes")
	}
	if len(ne.Counter) > 64 {
		bad("counter", "longer than 64 bytes")
	}
	if len(ne.Body) > maxBody {
		bad("body", "%d bytes; at most %d", len(ne.Body), maxBody)
	} else if !json.Valid(ne.Body) {
		bad("body", "is not JSON")
	}
	if ps == nil {
		return nil
	}
	return errkind.New(errkind.Invalid, "event cannot be accepted").WithProblems(ps...)
}

func plainName(s string, most int) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= most
}
