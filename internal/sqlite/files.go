package sqlite

import (
	"golang.org/x/sys/unix"

	"arkamsg/internal/errkind"
)

// fileID tells one file from another that took its name.
type fileID struct{ dev, ino, links uint64 }

func lstatID(path string) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fileID{}, err
	}
	return fileID{uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink)}, nil //nolint:unconvert // widths differ by system
}

// identity is what the files were when the writer opened them.
type identity struct {
	known bool
	paths [3]string // database, -wal, -shm
	ids   [3]fileID
}

// see records the files; the connection must have begun a transaction before,
// so that all three exist.
func (i *identity) see(path string) error {
	i.paths = [3]string{path, path + "-wal", path + "-shm"}
	for n, p := range i.paths {
		id, err := lstatID(p)
		if err != nil {
			return err
		}
		i.ids[n] = id
	}
	i.known = true
	return nil
}

// check compares by lstat alone: opening one of SQLite's files here would drop
// its locks at close (RELIABILITY 10).
func (i *identity) check() *errkind.Error {
	if !i.known {
		return nil
	}
	for n, p := range i.paths {
		id, err := lstatID(p)
		if err != nil {
			return moved(p, "is gone").Wrap(err)
		}
		if id != i.ids[n] {
			return moved(p, "is another file, or was linked elsewhere")
		}
	}
	return nil
}

func moved(path, what string) *errkind.Error {
	return errkind.New(errkind.Damaged, "%s %s while it was open; nothing more is written", path, what).
		WithHint("stop every arkamsg of this home, put the right journal back, then: arkamsg journal verify")
}

// CheckFiles reports Damaged when database, -wal or -shm are no longer the files
// that the writer opened (RELIABILITY 8). After that every Write is refused.
func (db *DB) CheckFiles() error {
	db.writerMu.Lock()
	defer db.writerMu.Unlock()
	return db.checkFiles()
}

func (db *DB) checkFiles() error {
	if e := db.poisoned.Load(); e != nil {
		return e
	}
	if e := db.identity.check(); e != nil {
		db.poisoned.Store(e)
		return e
	}
	return nil
}
