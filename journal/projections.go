package journal

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"arkamsg/internal/errkind"
)

// workRow is what history determines of a row of work. Lease, due time and the
// reason of a wait are not history.
type workRow struct {
	state   State
	attempt int
	fence   Fence
	n       int64
	holder  Holder
	term    Term
}

func (f folded) workRow() workRow {
	w := workRow{state: f.state, attempt: f.attempt, fence: f.fence, n: f.n}
	if f.state == Dispatched {
		w.holder, w.term = f.last.holder, f.last.term
	}
	return w
}

// checkProjections compares work, dead letters and counters with history.
func (tx *Tx) checkProjections(r *Report) error {
	h, err := tx.fold(
		func(f folded) error { return tx.checkOne(r, f) },
		func(err error) { r.add("history_impossible", "%v", err) })
	if err != nil {
		return err
	}
	if err := tx.checkTotals(r, h); err != nil {
		return err
	}
	return tx.checkCounters(r, h)
}

func (tx *Tx) checkOne(r *Report, f folded) error {
	if f.state == Queued || f.state == Dispatched {
		if err := tx.checkWork(r, f); err != nil {
			return err
		}
	}
	if f.dead == 0 {
		return nil
	}
	var seq int64
	err := tx.sql.QueryRow(`SELECT seq FROM dead WHERE event_id = ?`, f.ID).Scan(&seq)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if seq != f.dead {
		r.add("dead_lies", "%s failed in transition %d, the dead letters say %d", f.MessageID, f.dead, seq)
	}
	return nil
}

func (tx *Tx) checkWork(r *Report, f folded) error {
	var w workRow
	err := tx.sql.QueryRow(`SELECT state, attempt, fence, n, holder, term FROM work WHERE lane = ? AND event_id = ?`, f.Lane, f.ID).
		Scan(&w.state, &w.attempt, &w.fence, &w.n, &w.holder, &w.term)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		r.add("work_lies", "%s is %s by history, but has no work", f.MessageID, f.state)
		return nil
	case err == nil && w != f.workRow():
		r.add("work_lies", "%s is %+v by history, work says %+v", f.MessageID, f.workRow(), w)
	}
	return err
}

// checkTotals finds rows that history does not know.
func (tx *Tx) checkTotals(r *Report, h history) error {
	var work, dead int
	if err := tx.sql.QueryRow(`SELECT (SELECT count(*) FROM work), (SELECT count(*) FROM dead)`).Scan(&work, &dead); err != nil {
		return err
	}
	if work != h.work {
		r.add("work_lies", "%d events have work left by history, work has %d rows", h.work, work)
	}
	if dead != h.dead {
		r.add("dead_lies", "%d dead letters by history, %d are listed", h.dead, dead)
	}
	return nil
}

func (tx *Tx) checkCounters(r *Report, h history) error {
	want, err := tx.withBaseline(h)
	if err != nil {
		return err
	}
	got, err := tx.counters("counter")
	if err != nil {
		return err
	}
	delete(got, CounterDuplicates) // the only one that history does not hold
	names := slices.Collect(maps.Keys(want))
	for name := range got {
		if _, ok := want[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if got[name] != want[name] {
			r.add("counter_lies", "%s is %d by history, the counter says %d", name, want[name], got[name])
		}
	}
	return nil
}

// withBaseline adds what the archived rows contributed.
func (tx *Tx) withBaseline(h history) (map[string]int64, error) {
	base, err := tx.counters("baseline")
	for name, v := range h.counters {
		base[name] += v
	}
	return base, err
}

// Rebuild makes work, dead letters and counters anew from history and its
// archives. Leases and due times are over then: work in hand can be taken over
// at once, and its old tickets stay valid until it is. Where an archive is
// missing, what was remembered of it stays. Damaged: history itself is
// impossible. NotNow: history is being archived.
func (j *Journal) Rebuild(ctx context.Context) error {
	archives, unknown := j.tallyArchives(ctx)
	if unknown != nil && errkind.Of(unknown) != errkind.NotFound && errkind.Of(unknown) != errkind.Damaged {
		return unknown
	}
	return j.Update(ctx, func(tx *Tx) error {
		if unknown == nil {
			if err := tx.rebase(archives); err != nil {
				return err
			}
		}
		var left []folded
		var wrong error
		h, err := tx.fold(
			func(f folded) error {
				if f.state == Queued || f.state == Dispatched || f.dead > 0 {
					left = append(left, f)
				}
				return nil
			},
			func(err error) { wrong = firstError(wrong, err) })
		if err != nil {
			return err
		}
		if wrong != nil {
			return errkind.New(errkind.Damaged, "history is impossible").Wrap(wrong).WithHint("restore a backup")
		}
		return tx.replaceProjections(left, h)
	})
}

func (tx *Tx) replaceProjections(left []folded, h history) error {
	for _, s := range []string{`DELETE FROM work`, `DELETE FROM dead`, `DELETE FROM counter WHERE name <> '` + CounterDuplicates + `'`} {
		if _, err := tx.sql.Exec(s); err != nil {
			return err
		}
	}
	for _, f := range left {
		if err := tx.putBack(f); err != nil {
			return err
		}
	}
	counters, err := tx.withBaseline(h)
	if err != nil {
		return err
	}
	for name, value := range counters {
		if _, err := tx.sql.Exec(`INSERT INTO counter(name, value) VALUES(?,?)`, name, value); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) putBack(f folded) error {
	if f.dead > 0 {
		_, err := tx.sql.Exec(`INSERT INTO dead(seq, event_id, lane, reason, at, test) VALUES(?,?,?,?,?,?)`,
			f.dead, f.ID, f.Lane, f.reason, f.last.at, bit(f.Test))
		return err
	}
	w := f.workRow()
	reason := f.reason
	if w.state == Dispatched {
		reason = ""
	}
	_, err := tx.sql.Exec(`INSERT INTO work(lane, event_id, kind, test, state, attempt, fence, n, holder, term, reason, since)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?)`,
		f.Lane, f.ID, f.Kind, bit(f.Test), w.state, w.attempt, w.fence, w.n, w.holder, w.term, reason, f.last.at)
	return err
}
