package sqlite

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// create builds an empty database under another name and gives it its own only
// when it is complete. Whoever comes second finds the first one's file.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return explain(path, "create", err)
	}
	temp := path + ".new-" + randomHex(4)
	defer os.Remove(temp)
	if err := build(temp); err != nil {
		return explain(path, "create", err)
	}
	err := renameNew(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return explain(path, "create", err)
	}
	return explain(path, "create", syncDir(filepath.Dir(path)))
}

// build writes the header alone: application id, then WAL mode.
func build(temp string) error {
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	c, err := (&sqlite3.SQLiteDriver{}).Open(dsn(temp, roleWrite, "full"))
	if err != nil {
		return err
	}
	conn := c.(*sqlite3.SQLiteConn)
	_, err = conn.Exec(fmt.Sprintf("PRAGMA journal_mode=DELETE; PRAGMA application_id=%d; PRAGMA journal_mode=WAL", applicationID), nil)
	return errors.Join(err, conn.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
