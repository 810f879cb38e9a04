package durable

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/errkind"
)

// lockPatience bounds the wait for a peer that was stopped with the lock in its
// hand. Peers hold it for one write and one fsync.
const lockPatience = 10 * time.Second

// lock takes the exclusive flock of an open file.
func lock(f *os.File) error {
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(2 * time.Millisecond) {
		held, err := tryLock(f)
		if err != nil || held {
			return err
		}
		if time.Now().After(deadline) {
			return errkind.New(errkind.NotNow, "%q is locked by another process", f.Name()).
				WithHint("another arkamsg is writing it; repeat when that has ended")
		}
	}
}

// tryLock takes the exclusive flock if nobody has it.
func tryLock(f *os.File) (bool, error) {
	err := retryEINTR(func() error {
		return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	})
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// TryHold opens an existing file and takes its flock. held is false while
// another one, such as the living caller of [CreateHeld], has it; the file is
// returned only when held. fs.ErrNotExist if the name is gone.
func TryHold(root *os.Root, name string) (f *os.File, held bool, err error) {
	d, base, err := parentOf(root, name)
	if err != nil {
		return nil, false, err
	}
	defer d.close()
	if f, err = d.openChecked(base, name); err != nil {
		return nil, false, err
	}
	if held, err = tryLock(f); err == nil && held {
		held, err = d.stillNamed(f, base)
	}
	if err != nil {
		f.Close()
		return nil, false, failed("lock", name, err)
	}
	if !held {
		f.Close()
		return nil, false, nil
	}
	return f, true, nil
}

// stillNamed tells whether the name still leads to the file we locked: its
// holder may have removed it while we waited.
func (d *folder) stillNamed(f *os.File, base string) (bool, error) {
	var open unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &open); err != nil {
		return false, err
	}
	named, err := d.lstat(base)
	if err == nil && !sameFile(&open, named) {
		err = unix.ENOENT
	}
	return err == nil, err
}

// HoldDir takes the exclusive flock of a folder, so that writers which first
// look and then write take turns. Releasing is closing; a dead holder has
// released.
func HoldDir(root *os.Root, name string) (release func(), err error) {
	d, err := openFolder(root, name)
	if err != nil {
		return nil, err
	}
	if err := lock(d.file); err != nil {
		d.close()
		return nil, failed("lock", name, err)
	}
	return d.close, nil
}
