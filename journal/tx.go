package journal

import (
	"context"
	"database/sql"
	"errors"

	"arkamsg/internal/crash"
	"arkamsg/internal/sqlite"
)

// Tx is a transaction on the journal. Its methods are the twins of the
// journal's: together they commit, or not at all.
type Tx struct {
	j   *Journal
	sql *sqlite.Tx

	*ends
	appended bool // rings the bell after the commit
}

// SQL returns the transaction underneath, for a package's own tables.
func (tx *Tx) SQL() *sqlite.Tx { return tx.sql }

// Update runs fn in one durable transaction (group commit). Its error rolls
// back all that fn did. When the disk is full the reserve is given up, once, so
// that the state of work in hand can still be recorded (RELIABILITY 15); fn may
// therefore run twice.
func (j *Journal) Update(ctx context.Context, fn func(*Tx) error) error {
	err := j.update(ctx, fn)
	if sqlite.IsFull(err) && j.reserve.release() {
		j.log.Warn("disk full: journal reserve released")
		err = j.update(ctx, fn)
	}
	return err
}

func (j *Journal) update(ctx context.Context, fn func(*Tx) error) error {
	return j.db.Write(ctx, func(stx *sqlite.Tx) error {
		tx := &Tx{j: j, sql: stx, ends: endsOf(stx)}
		if err := fn(tx); err != nil {
			return err
		}
		crash.At("journal:written")
		tx.settle()
		return nil
	})
}

// view runs fn on one consistent snapshot.
func (j *Journal) view(ctx context.Context, fn func(*Tx) error) error {
	return j.db.Read(ctx, func(stx *sqlite.Tx) error { return fn(&Tx{j: j, sql: stx, ends: &ends{}}) })
}

// settle tells the head, after the commit, how far the chains reach now.
func (tx *Tx) settle() {
	if tx.events == nil && tx.transitions == nil {
		return
	}
	events, transitions := tx.events, tx.transitions // as they are now: a later caller may still roll back
	tx.sql.OnCommit(func() {
		if events != nil {
			tx.j.known = *events
		}
		tx.j.head.note(events, transitions, tx.appended)
	})
}

// ends are the ends of both chains, each known once somebody asked. The callers
// that share a transaction share them; a link, once set, is never changed.
type ends struct {
	events      *link
	transitions *link
}

func endsOf(stx *sqlite.Tx) *ends {
	e, ok := stx.Scratch.(*ends)
	if !ok {
		e = &ends{}
		stx.Scratch = e
	}
	return e
}

// eventTail loads the end of the chain of events, once per transaction.
func (tx *Tx) eventTail() error {
	if tx.events != nil {
		return nil
	}
	l, b := link{}, []byte(nil)
	err := tx.sql.QueryRow(`SELECT id, hash FROM event ORDER BY id DESC LIMIT 1`).Scan(&l.seq, &b)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	l.hash.scan(b)
	tx.events = &l
	return nil
}

// transitionTail is the same for transitions.
func (tx *Tx) transitionTail() error {
	if tx.transitions != nil {
		return nil
	}
	l, b := link{}, []byte(nil)
	err := tx.sql.QueryRow(`SELECT seq, hash FROM transition ORDER BY seq DESC LIMIT 1`).Scan(&l.seq, &b)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	l.hash.scan(b)
	tx.transitions = &l
	return nil
}

func (tx *Tx) tails() error { return firstError(tx.eventTail(), tx.transitionTail()) }

// count adds to the counters.
func (tx *Tx) count(names []string) error {
	for _, name := range names {
		if _, err := tx.sql.Exec(`INSERT INTO counter(name, value) VALUES(?, 1)
			ON CONFLICT(name) DO UPDATE SET value = value + 1`, name); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) nowMilli() int64 { return tx.j.clock.Wall().UnixMilli() }
