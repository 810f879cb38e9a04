package journal

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// reserveSize is the room kept for the state of work in hand: the pages of some
// sixty transitions.
const reserveSize = 1 << 20

// reserve is <home>/journal.reserve: allocated bytes that are given up when the
// disk is full (RELIABILITY 15). While it is gone appends are refused; it comes
// back with the first append that finds room for it.
type reserve struct{ path string }

func reserveOf(home string) reserve { return reserve{filepath.Join(home, "journal.reserve")} }

// ensure allocates the reserve unless it is there.
func (r reserve) ensure() error {
	if r.there() {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(allocate(f, reserveSize), f.Close()); err != nil {
		return errors.Join(err, os.Remove(r.path))
	}
	return nil
}

// there reports whether the reserve holds its room.
func (r reserve) there() bool {
	var st unix.Stat_t
	return unix.Lstat(r.path, &st) == nil && st.Size >= reserveSize
}

// release gives the room back to the disk and reports whether there was any.
func (r reserve) release() bool { return os.Remove(r.path) == nil }

// fill allocates by writing, where the file system has no better way.
func fill(f *os.File, size int64) error {
	_, err := f.WriteAt(make([]byte, size), 0)
	return err
}
