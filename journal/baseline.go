package journal

import (
	"maps"
	"slices"

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
