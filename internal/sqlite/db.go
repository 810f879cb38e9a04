package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"

	"arkamsg/internal/errkind"
)

// minVersion is the first SQLite without the WAL-reset corruption (3.51.3).
const minVersion = 3_051_003

// readers bounds the reading connections of one process.
const readers = 4

// Options says how a database is opened.
type Options struct {
	// Sync is "full" (default: survives a power cut), "normal" or "off".
	Sync string
	// ReadOnly creates and changes nothing, not even beside the database.
	ReadOnly bool
	// AfterCommit runs once per durable transaction, before its callers are
	// told. Its error is theirs, as an unknown outcome.
	AfterCommit func() error
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path string
	opts Options

	read      atomic.Pointer[pool]
	group     group      // callers of Write, see write.go
	writerMu  sync.Mutex // held by the leader of a group
	writer    *sql.Conn
	raw       *sqlite3.SQLiteConn // the same connection; see DB.exec
	writerDB  *sql.DB
	identity  identity
	poisoned  atomic.Pointer[errkind.Error]
	closed    atomic.Bool
	reopening sync.Mutex
}

// Open opens the database at path and, unless it is read-only, creates it when
// it does not exist. NotFound: nothing there and read-only. Damaged: not a
// database of arkamsg.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if _, n, _ := sqlite3.Version(); n < minVersion {
		return nil, errkind.New(errkind.Internal, "SQLite %d is too old: 3.51.3 or newer is needed", n)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, errkind.New(errkind.Invalid, "database path").Wrap(err)
	}
	if o.Sync == "" {
		o.Sync = "full"
	}
	db := &DB{path: path, opts: o}
	if err := db.ensure(); err != nil {
		return nil, err
	}
	if err := db.openReaders(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Path returns the absolute path of the database file.
func (db *DB) Path() string { return db.path }

// ensure makes sure that there is a file to open.
func (db *DB) ensure() error {
	_, err := os.Lstat(db.path)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return db.explain("look for", err)
	case db.opts.ReadOnly:
		return errkind.New(errkind.NotFound, "there is no database at %s", db.path).Wrap(err)
	}
	return create(db.path)
}

// Close ends all connections. The last one of all processes folds the WAL back.
func (db *DB) Close() error {
	if !db.closed.CompareAndSwap(false, true) {
		return nil
	}
	var errs []error
	if p := db.read.Load(); p != nil {
		errs = append(errs, p.db.Close())
	}
	db.writerMu.Lock()
	defer db.writerMu.Unlock()
	return errors.Join(append(errs, db.dropWriter())...)
}

func (db *DB) dropWriter() error {
	if db.writer == nil {
		return nil
	}
	err := errors.Join(db.writer.Close(), db.writerDB.Close())
	db.writer, db.raw, db.writerDB = nil, nil, nil
	return err
}

func errClosed(path string) error {
	return errkind.New(errkind.NotNow, "%s is closed", path)
}
