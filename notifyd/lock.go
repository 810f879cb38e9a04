package notifyd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"arkamsg/internal/errkind"
)

// A lock is the OS lock on <home>/notifyd.lock. The kernel drops it with its
// holder, so a crash leaves nothing to clean up, and the file is never deleted:
// whoever deletes it admits a second daemon, which is why [lock.check] compares
// the file that is held with the file that is there.
type lock struct {
	path string
	file *flock.Flock
}

// lockPatience is how long a held lock may take to become free. A daemon killed
// between fork and exec of a tmux client leaves a child that holds the lock for
// the instant until its own exec, longer on a busy machine; a start in that
// instant would be refused although nobody runs.
const lockPatience = time.Second

// takeLock takes the lock or refuses. "Held by another" is a Conflict that names
// the holder; any other failure refuses the start as well, since a lock that
// cannot be understood protects nobody.
func takeLock(ctx context.Context, path string) (*lock, error) {
	file := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK))
	ok, err := tryLock(ctx, file)
	if err != nil {
		return nil, errkind.New(errkind.Refused, "cannot lock %s", path).Wrap(err).
			WithHint("check that the home is a local, writable folder: arkamsg doctor")
	}
	if !ok {
		return nil, errkind.New(errkind.Conflict, "another daemon holds %s (%s)", path, holderNote(path)).
			WithHint("arkamsg status")
	}
	l := &lock{path: path, file: file}
	if err := errors.Join(l.check(), l.sign()); err != nil {
		return nil, errors.Join(err, file.Unlock())
	}
	return l, nil
}

func tryLock(ctx context.Context, file *flock.Flock) (ok bool, err error) {
	for until := time.Now().Add(lockPatience); ; {
		ok, err = file.TryLock()
		if ok || err != nil || time.Now().After(until) || !pause(ctx, 20*time.Millisecond) {
			return ok, err
		}
	}
}

// check fails once the lock file is no longer the file that is held.
func (l *lock) check() error {
	held, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	there, err := os.Lstat(l.path)
	if err != nil || !os.SameFile(held, there) {
		return errkind.New(errkind.Conflict, "%s was deleted or replaced while the daemon held it", l.path).
			Wrap(err).WithHint("stop every daemon of this home, then start one: arkamsg daemon")
	}
	return nil
}

// id names the very file that is held: device and inode cannot be handed to
// another file while we hold it open.
func (l *lock) id() (string, error) {
	info, err := l.file.Stat()
	if err != nil {
		return "", fmt.Errorf("lock: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("lock: no inode for %s", l.path)
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), nil
}

// sign writes a note for people; nothing is ever decided by its contents.
func (l *lock) sign() error {
	host, _ := os.Hostname() // a note without a host is still a note
	note := fmt.Sprintf("pid %d on %s\n", os.Getpid(), host)
	if err := os.WriteFile(l.path, []byte(note), 0o600); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	return nil
}

func (l *lock) release() error { return l.file.Unlock() }

func holderNote(path string) string {
	b, err := os.ReadFile(path)
	note := strings.TrimSpace(string(b))
	if err != nil || note == "" || len(note) > 300 || !fs.ValidPath(strings.ReplaceAll(note, " ", "-")) {
		return "its holder left no note"
	}
	return note
}
