package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

//go:embed schema/*.sql
var schema embed.FS

// owner is our name in the table of migrations.
const owner = "journal"

// Options says how a journal is opened.
type Options struct {
	Sync       string       // "full" (default), "normal" or "off"; see sqlite.Options
	ReadOnly   bool         // change and create nothing; damage is kept for Damage instead of refusing
	AcceptLoss bool         // open although the journal does not reach its head; AcceptHead makes it good
	Logger     *slog.Logger // nil: nothing is logged
	OnAppend   func()       // called after each durable commit that appended or revived work
	Clock      Clock        // nil: SystemClock
}

// Journal is an open journal. It is safe for concurrent use, and several
// processes may have it open.
type Journal struct {
	home    string
	id      string
	opts    Options
	db      *sqlite.DB
	head    *head
	reserve reserve
	clock   Clock
	log     *slog.Logger
	damage  error
	known   link // a committed end of the chain of events; guarded by the writer's lock
}

// Open opens the journal of a home, creating it in an empty one. It refuses
// with Damaged when the journal does not reach the last event that was
// acknowledged, and with Conflict when it is newer than this program.
func Open(ctx context.Context, home string, o Options) (*Journal, error) {
	j := &Journal{home: home, opts: o, clock: o.Clock, log: o.Logger, head: newHead(home), reserve: reserveOf(home)}
	if j.clock == nil {
		j.clock = SystemClock()
	}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if err := j.open(ctx); err != nil {
		_ = j.Close() // the first error is the one to show
		return nil, err
	}
	return j, nil
}

func (j *Journal) open(ctx context.Context) error {
	path := filepath.Join(j.home, "journal.db")
	mark, err := j.head.read() // before the journal: it can only grow meanwhile
	if err != nil {
		return err
	}
	if err := j.notLost(path, mark); err != nil {
		return err
	}
	j.db, err = sqlite.Open(ctx, path, sqlite.Options{Sync: j.opts.Sync, ReadOnly: j.opts.ReadOnly, AfterCommit: j.afterCommit})
	if err != nil {
		return err
	}
	return j.prepare(ctx, mark)
}

// notLost refuses to start an empty journal where a full one is missing.
func (j *Journal) notLost(path string, mark mark) error {
	_, err := os.Lstat(path)
	if !errors.Is(err, fs.ErrNotExist) || mark.empty() || j.opts.ReadOnly || j.opts.AcceptLoss {
		return nil
	}
	return damaged("%s is gone; it held %d events", path, mark.event.seq)
}

// prepare checks what is there before anything is written.
func (j *Journal) prepare(ctx context.Context, mark mark) error {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return err
	}
	fresh, err := j.db.Pending(ctx, owner, files)
	if err != nil {
		return err
	}
	if !fresh.First {
		if err := j.loadID(ctx); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := j.judge(j.quickCheck(ctx, mark)); err != nil {
			return err
		}
	}
	if j.opts.ReadOnly {
		return j.needTables(fresh)
	}
	return j.settle(ctx, files)
}

// judge decides what damage means for this way of opening.
func (j *Journal) judge(err error) error {
	if err == nil || errkind.Of(err) != errkind.Damaged {
		return err
	}
	j.damage = err
	if j.opts.ReadOnly || j.opts.AcceptLoss {
		j.log.Warn("journal damaged", "error", err)
		return nil
	}
	return err
}

func (j *Journal) needTables(p sqlite.Pending) error {
	if len(p.Names) == 0 {
		return nil
	}
	return errkind.New(errkind.NotNow, "the journal in %s is not ready yet", j.home).WithHint("arkamsg daemon")
}

// settle brings tables, identity, head and reserve into being.
func (j *Journal) settle(ctx context.Context, files fs.FS) error {
	if err := j.db.Migrate(ctx, owner, files); err != nil {
		return err
	}
	if j.id == "" {
		if err := j.christen(ctx); err != nil {
			return err
		}
	}
	j.head.id = j.id
	if err := j.head.ensure(); err != nil {
		return err
	}
	if err := j.reserve.ensure(); err != nil {
		j.log.Warn("no disk reserve", "error", err)
	}
	return nil
}

// newID is a random name for a journal.
func newID() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// christen gives a new journal its id.
func (j *Journal) christen(ctx context.Context) error {
	err := j.db.Write(ctx, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO journal(one, id, created_at) VALUES(1, ?, ?) ON CONFLICT DO NOTHING`,
			newID(), j.clock.Wall().UnixMilli())
		return err
	})
	if err != nil {
		return err
	}
	return j.loadID(ctx)
}

func (j *Journal) loadID(ctx context.Context) error {
	return j.db.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT id FROM journal`).Scan(&j.id)
	})
}

// ID returns the journal's own random name, 8 lower-case hex digits, given at
// its creation. Marks in panes carry it.
func (j *Journal) ID() string { return j.id }

// DB is for packages that keep tables of their own in the same file.
func (j *Journal) DB() *sqlite.DB { return j.db }

// Clock returns the clock that leases are measured with.
func (j *Journal) Clock() Clock { return j.clock }

// Damage returns what a read-only or loss-accepting Open found wrong, or nil.
func (j *Journal) Damage() error { return j.damage }

// CheckFiles reports Damaged when the files are no longer the files.
func (j *Journal) CheckFiles() error { return j.db.CheckFiles() }

// Close ends the use of the journal.
func (j *Journal) Close() error {
	if j.db == nil {
		return nil
	}
	return j.db.Close()
}

// afterCommit runs once per durable transaction, before its callers are told.
func (j *Journal) afterCommit() error {
	appended, err := j.head.flush()
	if err != nil {
		// The head may lag behind: it is a lower bound, what is committed is kept.
		j.log.Warn("journal head not written", "error", err)
	}
	if appended && j.opts.OnAppend != nil {
		j.opts.OnAppend()
	}
	return nil
}
