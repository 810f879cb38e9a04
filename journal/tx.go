package journal

import (
	"context"

	"arkamsg/internal/crash"
	"arkamsg/internal/sqlite"
)

// Tx is a transaction on the journal. Its methods are the twins of the
// journal's: together they commit, or not at all.
type Tx struct {
	j   *Journal
	sql *sqlite.Tx

	tailsKnown  bool
	events      link
	transitions link
	archives    bool // something was archived once
	appended    bool // rings the bell after the commit
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
		tx := &Tx{j: j, sql: stx}
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
	return j.db.Read(ctx, func(stx *sqlite.Tx) error { return fn(&Tx{j: j, sql: stx}) })
}

// settle tells the head, after the commit, how far the chains reach now.
func (tx *Tx) settle() {
	if !tx.tailsKnown {
		return
	}
	events, transitions, appended := tx.events, tx.transitions, tx.appended
	tx.sql.OnCommit(func() { tx.j.head.note(events, transitions, appended) })
}

// tails loads the ends of both chains, once per transaction.
func (tx *Tx) tails() error {
	if tx.tailsKnown {
		return nil
	}
	var eh, th []byte
	err := tx.sql.QueryRow(`SELECT
		coalesce((SELECT max(id) FROM event), 0),
		(SELECT hash FROM event ORDER BY id DESC LIMIT 1),
		coalesce((SELECT max(seq) FROM transition), 0),
		(SELECT hash FROM transition ORDER BY seq DESC LIMIT 1),
		EXISTS(SELECT 1 FROM archived)`).
		Scan(&tx.events.seq, &eh, &tx.transitions.seq, &th, &tx.archives)
	if err != nil {
		return err
	}
	tx.events.hash.scan(eh)
	tx.transitions.hash.scan(th)
	tx.tailsKnown = true
	return nil
}

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
