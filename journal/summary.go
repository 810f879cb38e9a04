package journal

import (
	"context"
	"time"
)

// Summary is what `status` shows of the journal.
type Summary struct {
	Queued, Dispatched        int
	OldestQueued              time.Time // zero when nothing is queued
	Events, Delivered, Failed int64
	Counters                  map[string]int64 // every name in Counters, and whatever else events counted
	Waiting                   []Waiting        // oldest first, at most 100
	RecentFailures            []Failure        // newest first, at most 10
	Dead                      int              // dead letters now
}

// Waiting is work that waits for something, and for what.
type Waiting struct {
	MessageID MessageID
	Kind      Kind
	Lane      Lane
	State     State
	Reason    Reason
	Since     time.Time
	Attempt   int
}

// Failure is an end that was not a delivery.
type Failure struct {
	MessageID MessageID
	Kind      Kind
	Lane      Lane
	Reason    Reason
	At        time.Time
}

// Summary reads the projections; its cost does not grow with history.
func (j *Journal) Summary(ctx context.Context) (s Summary, err error) {
	err = j.view(ctx, func(tx *Tx) error {
		s, err = tx.summary()
		return err
	})
	return s, err
}

func (tx *Tx) summary() (s Summary, err error) {
	for _, part := range []func(*Summary) error{tx.sumLag, tx.sumCounters, tx.sumWaiting, tx.sumFailures} {
		if err := part(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (tx *Tx) sumLag(s *Summary) error {
	var oldest int64
	err := tx.sql.QueryRow(`SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'dispatched'),
		coalesce((SELECT created_at FROM event WHERE id = (SELECT min(event_id) FROM work WHERE state = 'queued')), 0),
		(SELECT count(*) FROM dead) FROM work`).
		Scan(&s.Queued, &s.Dispatched, &oldest, &s.Dead)
	if oldest > 0 {
		s.OldestQueued = time.UnixMilli(oldest)
	}
	return err
}

func (tx *Tx) sumCounters(s *Summary) error {
	all, err := tx.counters("counter")
	if err != nil {
		return err
	}
	if err := tx.eventTail(); err != nil {
		return err
	}
	s.Events, s.Delivered, s.Failed = tx.events.seq-all[counterUncounted], all[counterDelivered], all[counterFailed]
	for _, name := range []string{counterUncounted, counterDelivered, counterFailed} {
		delete(all, name)
	}
	for _, name := range Counters {
		all[name] += 0
	}
	s.Counters = all
	return nil
}

// counters reads the table counter or baseline.
func (tx *Tx) counters(table string) (map[string]int64, error) {
	rows, err := tx.sql.Query(`SELECT name, value FROM ` + table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var name string
		var value int64
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		all[name] = value
	}
	return all, rows.Err()
}

func (tx *Tx) sumWaiting(s *Summary) error {
	rows, err := tx.sql.Query(`SELECT e.message_id, w.kind, w.lane, w.state, w.reason, w.since, w.attempt
		FROM work w JOIN event e ON e.id = w.event_id WHERE w.reason <> '' ORDER BY w.since, w.event_id LIMIT 100`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var w Waiting
		var since int64
		if err := rows.Scan(&w.MessageID, &w.Kind, &w.Lane, &w.State, &w.Reason, &since, &w.Attempt); err != nil {
			return err
		}
		w.Since = time.UnixMilli(since)
		s.Waiting = append(s.Waiting, w)
	}
	return rows.Err()
}

func (tx *Tx) sumFailures(s *Summary) error {
	rows, err := tx.sql.Query(`SELECT e.message_id, e.kind, d.lane, d.reason, d.at
		FROM dead d JOIN event e ON e.id = d.event_id WHERE d.test = 0 ORDER BY d.seq DESC LIMIT 10`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var f Failure
		var at int64
		if err := rows.Scan(&f.MessageID, &f.Kind, &f.Lane, &f.Reason, &at); err != nil {
			return err
		}
		f.At = time.UnixMilli(at)
		s.RecentFailures = append(s.RecentFailures, f)
	}
	return rows.Err()
}
