package journal

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// tally adds up what the rows of an anchored run of events once counted, as
// they stand in their archive.
func (a anchor) tally(tx *sqlite.Tx, counts map[string]int64) error {
	if err := a.tallyEvents(tx, counts); err != nil {
		return err
	}
	return a.tallySteps(tx, counts)
}

func (a anchor) tallyEvents(tx *sqlite.Tx, counts map[string]int64) error {
	rows, err := tx.Query(`SELECT counter, test, fact, count(*) FROM event WHERE id BETWEEN ? AND ? GROUP BY 1, 2, 3`, a.first, a.last)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e Event
		var n int64
		if err := rows.Scan(&e.Counter, &e.Test, &e.Fact, &n); err != nil {
			return err
		}
		for _, name := range countersOfEvent(e) {
			counts[name] += n
		}
	}
	return rows.Err()
}

func (a anchor) tallySteps(tx *sqlite.Tx, counts map[string]int64) error {
	rows, err := tx.Query(`SELECT e.kind, e.test, t.step, t.reason, count(*)
		FROM event e JOIN transition t ON t.event_id = e.id WHERE e.id BETWEEN ? AND ? GROUP BY 1, 2, 3, 4`, a.first, a.last)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e Event
		var s Step
		var reason Reason
		var n int64
		if err := rows.Scan(&e.Kind, &e.Test, &s, &reason, &n); err != nil {
			return err
		}
		for _, name := range countersOfStep(e.Kind, e.Test, s, reason) {
			counts[name] += n
		}
	}
	return rows.Err()
}

// checkBaseline compares what the archives hold with what the journal remembers
// of them. Only whole archives can tell.
func (r *Report) checkBaseline(remembered, held map[string]int64) {
	for _, f := range r.Findings {
		if f.Code == "archive_missing" || f.Code == "archive_changed" || f.Code == "unreadable" {
			return
		}
	}
	names := maps.Clone(held)
	maps.Copy(names, remembered)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if remembered[name] != held[name] {
			r.add("baseline_lies", "%s of what was archived is %d by the archives, the journal remembers %d", name, held[name], remembered[name])
		}
	}
}

// archiveTally is what the archives hold, and of which rows.
type archiveTally struct {
	anchors []anchor
	counts  map[string]int64
}

// tallyArchives counts all archived events anew. NotFound: an archive is not
// there, and nobody can tell.
func (j *Journal) tallyArchives(ctx context.Context) (t archiveTally, err error) {
	t.counts = map[string]int64{}
	err = j.view(ctx, func(tx *Tx) error {
		t.anchors, err = tx.anchorsOf("event")
		return err
	})
	for _, a := range t.anchors {
		if err == nil {
			err = j.tallyOne(ctx, a, t.counts)
		}
	}
	return t, err
}

func (j *Journal) tallyOne(ctx context.Context, a anchor, counts map[string]int64) error {
	db, err := sqlite.Open(ctx, filepath.Join(j.home, filepath.Base(a.file)), sqlite.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	var one map[string]int64
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		one = map[string]int64{}
		return a.tally(tx, one)
	})
	add(counts, one)
	return firstError(err, db.Close())
}

func add(counts, more map[string]int64) {
	for name, n := range more {
		counts[name] += n
	}
}

// rebase makes the baseline what the archives hold. NotNow: more was archived
// since they were counted.
func (tx *Tx) rebase(t archiveTally) error {
	now, err := tx.anchorsOf("event")
	if err != nil {
		return err
	}
	if !slices.Equal(now, t.anchors) {
		return errkind.New(errkind.NotNow, "history is being archived at this moment").WithHint("type it again")
	}
	if _, err := tx.sql.Exec(`DELETE FROM baseline`); err != nil {
		return err
	}
	return tx.addBaseline(t.counts)
}
