package journal

import (
	"context"
	"database/sql"
	"path/filepath"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// verifyArchives proves that each anchored run is whole in its file, and that
// they hold what the journal remembers to have counted there.
func (j *Journal) verifyArchives(ctx context.Context, r *Report) error {
	byFile := map[string]map[string][]anchor{}
	var remembered map[string]int64
	err := j.view(ctx, func(tx *Tx) (err error) {
		if remembered, err = tx.counters("baseline"); err != nil {
			return err
		}
		for _, chain := range []string{"event", "transition"} {
			all, err := tx.anchorsOf(chain)
			if err != nil {
				return err
			}
			for _, a := range all {
				if byFile[a.file] == nil {
					byFile[a.file] = map[string][]anchor{}
				}
				byFile[a.file][chain] = append(byFile[a.file][chain], a)
			}
		}
		return nil
	})
	if err != nil {
		return damageFound(r, err)
	}
	held := map[string]int64{}
	for file, chains := range byFile {
		if err := j.verifyArchive(ctx, r, file, chains, held); err != nil {
			return err
		}
	}
	r.checkBaseline(remembered, held)
	return nil
}

func damageFound(r *Report, err error) error {
	if errkind.Of(err) != errkind.Damaged {
		return err
	}
	r.add("unreadable", "%v", err)
	return nil
}

func (j *Journal) verifyArchive(ctx context.Context, r *Report, file string, chains map[string][]anchor, held map[string]int64) error {
	db, err := sqlite.Open(ctx, filepath.Join(j.home, filepath.Base(file)), sqlite.Options{ReadOnly: true})
	if errkind.Of(err) == errkind.NotFound {
		r.add("archive_missing", "%s is not beside the journal", file)
		return nil
	}
	if err != nil {
		return damageFound(r, err)
	}
	defer db.Close()
	r.Archives++
	var counts map[string]int64
	defer func() { add(held, counts) }()
	return damageFound(r, db.Read(ctx, func(stx *sqlite.Tx) error {
		tx := &Tx{j: j, sql: stx, ends: &ends{}}
		counts = map[string]int64{}
		for _, a := range chains["event"] {
			if err := tx.proveRun(r, a, "event", `SELECT `+eventColumns+` FROM event WHERE id BETWEEN ? AND ? ORDER BY id`, readEventLink); err != nil {
				return err
			}
			if err := a.tally(stx, counts); err != nil {
				return err
			}
		}
		for _, a := range chains["transition"] {
			if err := tx.proveRun(r, a, "transition", `SELECT `+transitionColumns+` FROM transition WHERE seq BETWEEN ? AND ? ORDER BY seq`, readTransitionLink); err != nil {
				return err
			}
		}
		return nil
	}))
}

// readLink reads a row: its number, stored digest, and how to compute it.
type readLink func(*sql.Rows) (int64, digest, func(digest) digest, error)

func readEventLink(rows *sql.Rows) (int64, digest, func(digest) digest, error) {
	e, d, err := scanEvent(rows)
	return int64(e.ID), d, func(prev digest) digest { return hashEvent(prev, e) }, err
}

func readTransitionLink(rows *sql.Rows) (int64, digest, func(digest) digest, error) {
	t, d, err := scanTransition(rows)
	return t.seq, d, func(prev digest) digest { return hashTransition(prev, t) }, err
}

func (tx *Tx) proveRun(r *Report, a anchor, chain, query string, read readLink) error {
	rows, err := tx.sql.Query(query, a.first, a.last)
	if err != nil {
		return err
	}
	defer rows.Close()
	w := &walker{chain: "archive", report: r, at: link{a.first - 1, a.prev}}
	for rows.Next() {
		seq, stored, compute, err := read(rows)
		if err != nil {
			return err
		}
		w.visit(seq, stored, compute)
		r.count(chain)
	}
	if w.at != (link{a.last, a.hash}) {
		r.add("archive_changed", "%s %d to %d in %s are not what was moved there", chain, a.first, a.last, a.file)
	}
	return rows.Err()
}

func (r *Report) count(chain string) {
	if chain == "event" {
		r.Events++
	} else {
		r.Transitions++
	}
}
