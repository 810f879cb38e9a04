package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"arkamsg/internal/errkind"
)

// IsFull reports whether the disk had no room left.
func IsFull(err error) bool {
	return hasCode(err, sqlite3.ErrFull) || errors.Is(err, syscall.ENOSPC)
}

func isBusy(err error) bool {
	return hasCode(err, sqlite3.ErrBusy) || hasCode(err, sqlite3.ErrLocked)
}

func hasCode(err error, code sqlite3.ErrNo) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == code
}

func (db *DB) explain(op string, err error) error { return explain(db.path, op, err) }

// explainFn explains what a caller's function passed on from SQLite by a way
// that we do not see (sql.Rows), and leaves its own errors as they are.
func (db *DB) explainFn(err error) error {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return db.explain("use", err)
	}
	return err
}

// explain turns what SQLite or the system says into an error of ours that names
// the file. Errors that have a kind already, and sql.ErrNoRows, pass unchanged.
func explain(path, op string, err error) error {
	var known *errkind.Error
	switch {
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return err
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errkind.New(errkind.NotNow, "%s %s: no time left", op, path).Wrap(err)
	}
	e := errkind.New(kindOf(err), "%s %s", op, path).Wrap(err)
	if h := hints[e.Kind]; h != "" {
		e.Hint = h
	}
	return e
}

var hints = map[errkind.Kind]string{
	errkind.NotNow:  "free space on that disk or wait for the other program, then repeat with the same id",
	errkind.Refused: "check the owner and the permissions of the file and its folder",
	errkind.Damaged: "arkamsg journal verify; if that cannot read it either, restore a backup: docs/runbook.md",
}

func kindOf(err error) errkind.Kind {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return systemKind(err)
	}
	if e.Code == sqlite3.ErrIoErr && e.SystemErrno == syscall.ENOENT {
		return errkind.Damaged // one of the three files was taken away by itself
	}
	switch e.Code {
	case sqlite3.ErrFull, sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrIoErr, sqlite3.ErrNomem, sqlite3.ErrInterrupt, sqlite3.ErrProtocol:
		return errkind.NotNow
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		return errkind.Damaged
	case sqlite3.ErrReadonly:
		if e.ExtendedCode == sqlite3.ErrNoExtended(sqlite3.ErrReadonly)|(4<<8) { // DBMOVED
			return errkind.Damaged
		}
		return errkind.Refused
	case sqlite3.ErrPerm, sqlite3.ErrCantOpen, sqlite3.ErrAuth:
		return errkind.Refused
	}
	return errkind.Internal
}

func systemKind(err error) errkind.Kind {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errkind.NotNow
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return errkind.Refused
	case errors.Is(err, fs.ErrNotExist):
		return errkind.NotFound
	}
	return errkind.Internal
}
