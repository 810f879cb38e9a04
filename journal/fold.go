package journal

import (
	"database/sql"
	"fmt"
)

// folded is an event with what its history amounts to.
type folded struct {
	Event
	progress
	last transition // zero without history
}

// history is everything derived from the two append-only tables.
type history struct {
	counters map[string]int64
	work     int // events that still have work
	dead     int
}

// fold runs through all events in order, each with its transitions folded, and
// adds up the counters. wrong hears of what cannot be.
func (tx *Tx) fold(each func(folded) error, wrong func(error)) (history, error) {
	h := history{counters: map[string]int64{}}
	ts, err := tx.openTransitions()
	if err != nil {
		return h, err
	}
	defer ts.rows.Close()
	events, err := tx.sql.Query(`SELECT id, message_id, kind, lane, x'', counter, test, fact, created_at, hash FROM event ORDER BY id`)
	if err != nil {
		return h, err
	}
	defer events.Close()
	for events.Next() {
		e, _, err := scanEvent(events)
		if err != nil {
			return h, err
		}
		f, err := ts.foldOf(e, h, wrong)
		if err != nil {
			return h, err
		}
		h.add(f)
		if err := each(f); err != nil {
			return h, err
		}
	}
	return h, firstError(events.Err(), ts.orphans(wrong))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *history) add(f folded) {
	for _, name := range countersOfEvent(f.Event) {
		h.counters[name]++
	}
	if f.state == Queued || f.state == Dispatched {
		h.work++
	}
	if f.dead > 0 {
		h.dead++
	}
}

// transitionCursor walks transitions by event, one ahead.
type transitionCursor struct {
	rows *sql.Rows
	next transition
	more bool
}

func (tx *Tx) openTransitions() (*transitionCursor, error) {
	rows, err := tx.sql.Query(`SELECT ` + transitionColumns + ` FROM transition ORDER BY event_id, n`)
	if err != nil {
		return nil, err
	}
	c := &transitionCursor{rows: rows}
	return c, c.step()
}

func (c *transitionCursor) step() (err error) {
	if c.more = c.rows.Next(); c.more {
		c.next, _, err = scanTransition(c.rows)
		return err
	}
	return c.rows.Err()
}

// foldOf consumes the transitions of e.
func (c *transitionCursor) foldOf(e Event, h history, wrong func(error)) (folded, error) {
	f := folded{Event: e, progress: startOf(e)}
	for c.more && c.next.event <= e.ID {
		if c.next.event < e.ID {
			wrong(fmt.Errorf("transition %d is of event %d, which is not there", c.next.seq, c.next.event))
		} else if err := f.apply(c.next); err != nil {
			wrong(fmt.Errorf("event %d (%s): %w", e.ID, e.MessageID, err))
		} else {
			f.last = c.next
			for _, name := range countersOfStep(e.Kind, e.Test, c.next.step, c.next.reason) {
				h.counters[name]++
			}
		}
		if err := c.step(); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (c *transitionCursor) orphans(wrong func(error)) error {
	for c.more {
		wrong(fmt.Errorf("transition %d is of event %d, which is not there", c.next.seq, c.next.event))
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}
