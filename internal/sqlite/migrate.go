package sqlite

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"arkamsg/internal/errkind"
)

// Pending is what Migrate would still do.
type Pending struct {
	Names []string
	First bool // this owner has no tables yet
}

// Pending says what Migrate would do, and does nothing. A database that knows a
// name this program does not is newer: Conflict.
func (db *DB) Pending(ctx context.Context, owner string, files fs.FS) (p Pending, err error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		return p, errkind.New(errkind.Internal, "no migrations of %s", owner).Wrap(err)
	}
	done, err := db.migrated(ctx, owner)
	if err != nil {
		return p, err
	}
	p.First = len(done) == 0
	for _, name := range names {
		if !slices.Contains(done, name) {
			p.Names = append(p.Names, name)
		}
	}
	return p, db.notNewer(owner, names, done)
}

// Migrate brings the tables of one owner (a package) up to date: the .sql files
// at the root of files in the order of their names, one transaction each,
// recorded by name.
func (db *DB) Migrate(ctx context.Context, owner string, files fs.FS) error {
	p, err := db.Pending(ctx, owner, files)
	if err != nil {
		return err
	}
	for _, name := range p.Names {
		if err := db.migrate(ctx, owner, name, files); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) migrated(ctx context.Context, owner string) (done []string, err error) {
	err = db.Read(ctx, func(tx *Tx) error {
		done, err = applied(tx, owner)
		return err
	})
	return done, err
}

func applied(tx *Tx, owner string) (done []string, err error) {
	var n int
	err = tx.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE type='table' AND name='migration'`).Scan(&n)
	if err != nil || n == 0 {
		return nil, err
	}
	rows, err := tx.Query(`SELECT name FROM migration WHERE owner=? ORDER BY name`, owner)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		done = append(done, name)
	}
	return done, rows.Err()
}

func (db *DB) notNewer(owner string, names, done []string) error {
	for _, name := range done {
		if !slices.Contains(names, name) {
			return errkind.New(errkind.Conflict, "%s is newer than this arkamsg: it has %s/%s", db.path, owner, name).
				WithHint("install the newer arkamsg that made it, or restore a backup made by this one")
		}
	}
	return nil
}

// migrate applies one file; another process may have done so meanwhile.
func (db *DB) migrate(ctx context.Context, owner, name string, files fs.FS) error {
	if db.opts.ReadOnly {
		return errkind.New(errkind.NotNow, "%s lacks the tables of %s/%s", db.path, owner, name).
			WithHint("start the daemon once: arkamsg daemon")
	}
	script, err := fs.ReadFile(files, name)
	if err != nil {
		return errkind.New(errkind.Internal, "migration %s/%s", owner, name).Wrap(err)
	}
	return db.Write(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(createMigration); err != nil {
			return err
		}
		done, err := applied(tx, owner)
		if err != nil || slices.Contains(done, name) {
			return err
		}
		if _, err := tx.Exec(string(script)); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO migration(owner, name, applied_at) VALUES(?,?,?)`, owner, name, time.Now().UnixMilli())
		return err
	})
}

const createMigration = `CREATE TABLE IF NOT EXISTS migration(
	owner TEXT NOT NULL, name TEXT NOT NULL, applied_at INTEGER NOT NULL,
	PRIMARY KEY(owner, name)) STRICT, WITHOUT ROWID`
