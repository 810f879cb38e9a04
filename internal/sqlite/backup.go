package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"arkamsg/internal/errkind"
)

// Backup writes a consistent copy to dst, which must not exist, while others
// read and write. prove is asked to open the finished copy, before it gets its
// name, and to say whether it is good; nil asks nobody.
func (db *DB) Backup(ctx context.Context, dst string, prove func(path string) error) error {
	if exists(dst) {
		return errkind.New(errkind.Conflict, "%s exists already", dst).WithHint("choose another name")
	}
	temp := dst + ".new-" + randomHex(4)
	defer removeAll(temp)
	if err := db.vacuumInto(ctx, temp); err != nil {
		return explain(dst, "back up to", err)
	}
	if err := syncFile(temp); err != nil {
		return explain(dst, "back up to", err)
	}
	if prove != nil {
		if err := prove(temp); err != nil {
			return err
		}
	}
	if err := renameNew(temp, dst); err != nil {
		return explain(dst, "back up to", err)
	}
	return explain(dst, "back up to", syncDir(filepath.Dir(dst)))
}

func (db *DB) vacuumInto(ctx context.Context, temp string) error {
	conn, err := db.read.Load().db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", temp)
	return err
}

func removeAll(path string) {
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		_ = os.Remove(p)
	}
}

// syncFile makes a copy durable that SQLite has closed: VACUUM INTO does not.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}
