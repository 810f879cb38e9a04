package journal

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"arkamsg/internal/sqlite"
)

// Backup writes a proved copy of the live journal to dst, which must not exist.
// The copy is opened and verified before it gets its name. Archives are files
// that do not change any more: copy them as they are.
func (j *Journal) Backup(ctx context.Context, dst string) error {
	return j.db.Backup(ctx, dst, func(path string) error { return j.verifyCopy(ctx, path) })
}

func (j *Journal) verifyCopy(ctx context.Context, path string) error {
	db, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	copied := &Journal{home: j.home, id: j.id, db: db, clock: j.clock, log: j.log, head: j.head}
	var r Report
	if err := copied.verifySnapshot(ctx, &r, nil); err != nil {
		return err
	}
	return r.Err()
}

// Rescue saves what the open descriptors still hold after CheckFiles said that
// the files were taken away, beside the journal, and returns the name. Nothing is
// saved under that name if a descriptor opened since leads to another file.
func (j *Journal) Rescue(ctx context.Context) (string, error) {
	name := fmt.Sprintf("journal-rescued-%s.db", j.clock.Wall().UTC().Format("20060102T150405.000Z"))
	path := filepath.Join(j.home, name)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return path, j.db.Backup(ctx, path, func(copy string) error { return j.proveOurs(ctx, copy) })
}

// proveOurs demands that the copy is of this journal and reaches the head, if
// that was not taken away too.
func (j *Journal) proveOurs(ctx context.Context, path string) error {
	db, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	reached, err := j.head.read()
	if err != nil || reached.id == "" {
		reached = mark{id: j.id}
	}
	copied := &Journal{home: j.home, db: db, clock: j.clock, log: j.log, head: j.head}
	if err := copied.loadID(ctx); err != nil {
		return err
	}
	return copied.checkAgainst(ctx, reached)
}
