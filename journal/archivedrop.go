package journal

import (
	"errors"
	"slices"

	"arkamsg/internal/crash"
)

// errArchived: somebody else moved the same events.
var errArchived = errors.New("already archived")

// dropArchived deletes a proved batch from the journal: first the ids and the
// anchors, without which the triggers refuse, then the rows.
func (tx *Tx) dropArchived(file string, batch []archivedEvent) error {
	if err := tx.tails(); err != nil { // settle then brings the head to the ends, which stay
		return err
	}
	if err := tx.rememberIDs(file, batch); err != nil {
		return err
	}
	if err := tx.dropAnchors(file, batch); err != nil {
		return err
	}
	crash.At("journal:archive-dropping")
	for _, a := range batch {
		if err := tx.drop(a); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) rememberIDs(file string, batch []archivedEvent) error {
	counts := map[string]int64{}
	for _, a := range batch {
		d := bodyDigest(a.Kind, a.Body)
		res, err := tx.sql.Exec(`INSERT INTO archived(message_id, event_id, file, digest, state, reason) VALUES(?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
			a.MessageID, a.ID, file, d[:], a.last.state, a.last.reason)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return firstError(err, errArchived)
		}
		a.addCounts(counts)
	}
	return tx.addBaseline(counts)
}

// addCounts adds what the event and its steps once counted.
func (a archivedEvent) addCounts(counts map[string]int64) {
	for _, name := range countersOfEvent(a.Event) {
		counts[name]++
	}
	for _, s := range a.steps {
		for _, name := range countersOfStep(a.Kind, a.Test, s.step, s.reason) {
			counts[name]++
		}
	}
}

func (tx *Tx) addBaseline(counts map[string]int64) error {
	for name, n := range counts {
		if _, err := tx.sql.Exec(`INSERT INTO baseline(name, value) VALUES(?1, ?2)
			ON CONFLICT(name) DO UPDATE SET value = value + ?2`, name, n); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) dropAnchors(file string, batch []archivedEvent) error {
	var events, steps []anchor
	for _, a := range batch {
		events = append(events, anchor{int64(a.ID), int64(a.ID), file, a.prev, a.hash})
		for _, s := range a.steps {
			steps = append(steps, anchor{s.seq, s.seq, file, s.prev, s.hash})
		}
	}
	if err := tx.addAnchors("event", events); err != nil {
		return err
	}
	return tx.addAnchors("transition", steps)
}

// addAnchors joins neighbours into runs, and a run to the anchor it follows.
func (tx *Tx) addAnchors(chain string, singles []anchor) error {
	for _, a := range runs(singles) {
		res, err := tx.sql.Exec(`UPDATE anchor SET last = ?, hash = ? WHERE chain = ? AND file = ? AND last = ?`,
			a.last, a.hash[:], chain, a.file, a.first-1)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := tx.sql.Exec(`INSERT INTO anchor(chain, first, last, file, prev, hash) VALUES(?,?,?,?,?,?)`,
			chain, a.first, a.last, a.file, a.prev[:], a.hash[:]); err != nil {
			return err
		}
	}
	return nil
}

func runs(singles []anchor) (out []anchor) {
	slices.SortFunc(singles, func(a, b anchor) int { return int(a.first - b.first) })
	for _, a := range singles {
		if n := len(out); n > 0 && out[n-1].last+1 == a.first {
			out[n-1].last, out[n-1].hash = a.last, a.hash
			continue
		}
		out = append(out, a)
	}
	return out
}

func (tx *Tx) drop(a archivedEvent) error {
	if _, err := tx.sql.Exec(`DELETE FROM transition WHERE event_id = ?`, a.ID); err != nil {
		return err
	}
	return tx.one(`DELETE FROM event WHERE id = ?`, a.ID)
}
