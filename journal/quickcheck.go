package journal

import (
	"context"
	"database/sql"
	"errors"
)

// tailRows is how many of the last rows of each chain every start proves.
const tailRows = 64

// quickCheck proves, in constant time, that the journal reaches its head and
// that the last rows of both chains are what they were. Verify does the rest.
//
// The head is read before the journal, so it may have been made in between, by
// another process that also just began; then it is there at a second look.
func (j *Journal) quickCheck(ctx context.Context, m mark) error {
	err := j.checkAgainst(ctx, m)
	if err == nil || m.id != "" {
		return err
	}
	m, again := j.head.read()
	if again != nil || m.id == "" {
		return firstError(again, err)
	}
	if j.id == "" {
		if err := j.loadID(ctx); err != nil {
			return err
		}
	}
	return j.checkAgainst(ctx, m)
}

func (j *Journal) checkAgainst(ctx context.Context, m mark) error {
	return j.view(ctx, func(tx *Tx) error {
		if err := tx.tails(); err != nil {
			return err
		}
		if err := tx.reaches(m); err != nil {
			return err
		}
		return tx.checkTails()
	})
}

// reaches compares the journal with the external head.
func (tx *Tx) reaches(m mark) error {
	switch {
	case m.id == "" && tx.events.seq+tx.transitions.seq == 0:
		return nil // new: killed before it had a head
	case m.id == "":
		return damaged("%s is missing or unreadable: nothing says how far the journal reached", tx.j.head.path)
	case m.id != tx.j.id:
		return damaged("%s belongs to journal %s, but the journal is %s: it was replaced", tx.j.head.path, m.id, tx.j.id)
	}
	if err := tx.reachesLink("event", "id", m.event); err != nil {
		return err
	}
	return tx.reachesLink("transition", "seq", m.transition)
}

func (tx *Tx) reachesLink(table, column string, want link) error {
	if want.seq == 0 {
		return nil
	}
	got, err := tx.hashAt(table, column, want.seq)
	if errors.Is(err, sql.ErrNoRows) {
		return damaged("%s ends before %s %d, which was acknowledged: it is an older copy, or lost rows", tx.j.db.Path(), table, want.seq)
	}
	if err == nil && got != want.hash {
		err = damaged("%s %d is not the one that was acknowledged", table, want.seq)
	}
	return err
}

// hashAt is the digest of a row, or of the archived run that ends with it. The
// last rows of both chains are never archived, and the head is near them.
func (tx *Tx) hashAt(table, column string, seq int64) (d digest, err error) {
	var b []byte
	err = tx.sql.QueryRow(`SELECT hash FROM `+table+` WHERE `+column+` = ?2
		UNION ALL SELECT hash FROM anchor WHERE chain = ?1 AND last = ?2`, table, seq).Scan(&b)
	d.scan(b)
	return d, err
}

func (tx *Tx) checkTails() error {
	r := &Report{}
	if err := tx.walkChains(r, tx.events.seq-tailRows, tx.transitions.seq-tailRows); err != nil {
		return err
	}
	if r.OK() {
		return nil
	}
	return damaged("%s", r.Findings[0])
}
