package journal

import (
	"database/sql"
	"errors"
	"fmt"
)

// anchor stands for rows first..last that went to an archive.
type anchor struct {
	first, last int64
	file        string
	prev, hash  digest
}

// walker follows one chain, row by row, across the anchors of what was archived.
type walker struct {
	chain    string
	report   *Report
	anchors  map[int64]anchor // by first
	accepted int64            // rows up to here are not held against anybody
	at       link
	lost     bool // at.hash is unknown: take the next row as it is
}

// visit takes the next row.
func (w *walker) visit(seq int64, stored digest, compute func(prev digest) digest) {
	w.cross(seq)
	if !w.lost && compute(w.at.hash) != stored {
		w.find(seq, "changed", "%s %d is not what was written", w.chain, seq)
	}
	w.at, w.lost = link{seq, stored}, false
}

// cross moves over archived rows up to seq; other gaps are findings.
func (w *walker) cross(seq int64) {
	for w.at.seq+1 < seq {
		a, ok := w.anchors[w.at.seq+1]
		if !ok || a.last >= seq {
			w.find(seq, "missing", "%s %d to %d are missing", w.chain, w.at.seq+1, seq-1)
			w.at.seq, w.lost = seq-1, true
			return
		}
		if !w.lost && a.prev != w.at.hash {
			w.find(seq, "changed", "%s %d is not the one before the archived %d", w.chain, w.at.seq, a.first)
		}
		w.at, w.lost = link{a.last, a.hash}, false
	}
}

func (w *walker) find(seq int64, code, format string, args ...any) {
	if seq > w.accepted {
		w.report.add(w.chain+"_"+code, format, args...)
	}
}

// newWalker starts after the row `after` (0 or less: at the beginning).
func (tx *Tx) newWalker(r *Report, chain, column string, after int64) (*walker, error) {
	w := &walker{chain: chain, report: r, anchors: map[int64]anchor{}}
	if err := tx.loadAnchors(w); err != nil {
		return nil, err
	}
	err := tx.sql.QueryRow(`SELECT coalesce((SELECT accepted_` + chain + ` FROM journal), 0)`).Scan(&w.accepted)
	if err != nil || after <= 0 || w.insideAnchor(after) {
		return w, err
	}
	w.at.seq = after
	w.at.hash, err = tx.hashAt(chain, column, after)
	if errors.Is(err, sql.ErrNoRows) {
		w.lost, err = true, nil
	}
	return w, err
}

// insideAnchor starts behind the archived run that holds the row, if any.
func (w *walker) insideAnchor(seq int64) bool {
	for _, a := range w.anchors {
		if a.first <= seq && seq <= a.last {
			w.at = link{a.last, a.hash}
			return true
		}
	}
	return false
}

func (tx *Tx) loadAnchors(w *walker) error {
	all, err := tx.anchorsOf(w.chain)
	for _, a := range all {
		w.anchors[a.first] = a
	}
	return err
}

func (tx *Tx) anchorsOf(chain string) (out []anchor, err error) {
	rows, err := tx.sql.Query(`SELECT first, last, file, prev, hash FROM anchor WHERE chain = ? ORDER BY first`, chain)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a anchor
		var prev, hash []byte
		if err := rows.Scan(&a.first, &a.last, &a.file, &prev, &hash); err != nil {
			return nil, err
		}
		a.prev.scan(prev)
		a.hash.scan(hash)
		out = append(out, a)
	}
	return out, rows.Err()
}

// walkChains proves both chains after the given rows.
func (tx *Tx) walkChains(r *Report, afterEvent, afterTransition int64) error {
	if err := tx.walkEvents(r, max(afterEvent, 0)); err != nil {
		return err
	}
	return tx.walkTransitions(r, max(afterTransition, 0))
}

func (tx *Tx) walkEvents(r *Report, after int64) error {
	w, err := tx.newWalker(r, "event", "id", after)
	if err != nil {
		return err
	}
	rows, err := tx.sql.Query(`SELECT `+eventColumns+` FROM event WHERE id > ? ORDER BY id`, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		e, d, err := scanEvent(rows)
		if err != nil {
			return fmt.Errorf("event after %d: %w", w.at.seq, err)
		}
		w.visit(int64(e.ID), d, func(prev digest) digest { return hashEvent(prev, e) })
		r.Events++
	}
	return rows.Err()
}

func (tx *Tx) walkTransitions(r *Report, after int64) error {
	w, err := tx.newWalker(r, "transition", "seq", after)
	if err != nil {
		return err
	}
	rows, err := tx.sql.Query(`SELECT `+transitionColumns+` FROM transition WHERE seq > ? ORDER BY seq`, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		t, d, err := scanTransition(rows)
		if err != nil {
			return fmt.Errorf("transition after %d: %w", w.at.seq, err)
		}
		w.visit(t.seq, d, func(prev digest) digest { return hashTransition(prev, t) })
		r.Transitions++
	}
	return rows.Err()
}
