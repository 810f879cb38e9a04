package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"time"

	"arkamsg/internal/errkind"
)

// pool is the reading connections, and what the file looked like when they were
// opened without its WAL.
type pool struct {
	db        *sql.DB
	immutable bool
	size      int64
	modTime   time.Time
}

// openReaders opens and proves the first reading connection.
func (db *DB) openReaders(ctx context.Context) error {
	p, err := db.newPool()
	if err != nil {
		return err
	}
	if err := retryBusy(ctx, func() error { return p.db.PingContext(ctx) }); err != nil {
		_ = p.db.Close() // the first error is the one to show
		return db.explain("open", err)
	}
	db.read.Store(p)
	return nil
}

// newPool chooses how to read. Read-only and without a WAL the file is read
// alone, so that neither -wal nor -shm is created beside it.
func (db *DB) newPool() (*pool, error) {
	st, err := os.Lstat(db.path)
	if err != nil {
		return nil, db.explain("open", err)
	}
	if !st.Mode().IsRegular() {
		return nil, errkind.New(errkind.Refused, "%s is not a regular file", db.path)
	}
	p := &pool{size: st.Size(), modTime: st.ModTime()}
	p.immutable = db.opts.ReadOnly && !exists(db.path+"-wal")
	r := roleRead
	if p.immutable {
		r = roleImmutable
	}
	p.db = connect(db.path, r, db.opts.Sync, readers)
	return p, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// undisturbed reports whether an immutable reading can be believed: still no
// WAL, and the file is as it was.
func (p *pool) undisturbed(path string) bool {
	if !p.immutable {
		return true
	}
	st, err := os.Lstat(path)
	return err == nil && !exists(path+"-wal") && st.Size() == p.size && st.ModTime().Equal(p.modTime)
}

// Read runs fn on one consistent snapshot. It never waits for a writer. fn may
// run twice and must only read.
func (db *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	for range 100 {
		if db.closed.Load() {
			return errClosed(db.path)
		}
		p := db.read.Load()
		err := retryBusy(ctx, func() error { return db.snapshot(ctx, p.db, fn) })
		if p.undisturbed(db.path) {
			return err
		}
		if err := db.reopenReaders(ctx, p); err != nil {
			return err
		}
	}
	return errkind.New(errkind.NotNow, "%s changes faster than it can be read", db.path)
}

// reopenReaders follows a writer that appeared beside a read-only reader.
func (db *DB) reopenReaders(ctx context.Context, old *pool) error {
	db.reopening.Lock()
	defer db.reopening.Unlock()
	if db.read.Load() != old {
		return nil
	}
	if err := db.openReaders(ctx); err != nil {
		return err
	}
	return db.explain("close", old.db.Close())
}

func (db *DB) snapshot(ctx context.Context, from *sql.DB, fn func(*Tx) error) error {
	conn, err := from.Conn(ctx)
	if err != nil {
		return db.explain("read", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), "BEGIN"); err != nil {
		return db.explain("read", err)
	}
	defer conn.ExecContext(context.Background(), "ROLLBACK") //nolint:errcheck // nothing was written
	return db.explainFn(fn(&Tx{db: db, ctx: ctx, conn: conn}))
}

// busyFor is how long somebody else may hold a lock before we say so.
const busyFor = time.Minute

// retryBusy repeats f while another connection holds a lock that SQLite itself
// does not wait for (recovery, the last close of the WAL).
func retryBusy(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(busyFor)
	for {
		err := f()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Millisecond):
		}
	}
}
