package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

// mark is what the head file remembers: whose it is and how far both chains
// were durable.
type mark struct {
	id         string
	event      link
	transition link
}

func (m mark) empty() bool { return m.event.seq == 0 && m.transition.seq == 0 }

// total orders marks: both chains only grow.
func (m mark) total() int64 { return m.event.seq + m.transition.seq }

// head is <home>/journal.head: a record outside the database of how far it
// reached. It is written after the commit and never synced, so it is a lower
// bound: the journal may be ahead of it, never behind. A journal that is behind
// lost acknowledged rows (an older backup, a damaged WAL).
//
// The file holds two slots with a checksum each; a write goes to the lesser
// one, so that a torn write leaves the other. It is written under flock and
// never moves backwards, whoever comes late.
type head struct {
	path    string
	id      string
	pending mark // guarded by the writer's lock: set by note, taken by flush
	dirty   bool
	rings   bool
}

const (
	slotSize  = 256
	headMagic = "ARKAHD01"
)

func newHead(home string) *head { return &head{path: filepath.Join(home, "journal.head")} }

// note remembers the chains' ends of a committed transaction until flush.
func (h *head) note(events, transitions *link, appended bool) {
	if events != nil {
		h.pending.event = *events
	}
	if transitions != nil {
		h.pending.transition = *transitions
	}
	h.dirty = true
	h.rings = h.rings || appended
}

// flush writes what was noted and reports whether work was appended.
func (h *head) flush() (rings bool, err error) {
	rings, dirty := h.rings, h.dirty
	h.rings, h.dirty = false, false
	if !dirty {
		return rings, nil
	}
	h.pending.id = h.id
	err = h.advance(h.pending)
	crash.At("journal:head-written")
	return rings, err
}

// advance moves the head forward to m, or leaves it when it is there already.
func (h *head) advance(m mark) error {
	return h.locked(func(fd int) error {
		best, lesser := order(readSlots(fd))
		if best.id == m.id {
			m.event, m.transition = further(best.event, m.event), further(best.transition, m.transition)
		}
		if m == best {
			return nil
		}
		_, err := unix.Pwrite(fd, m.encode(), int64(lesser)*slotSize)
		return err
	})
}

func further(a, b link) link {
	if a.seq > b.seq {
		return a
	}
	return b
}

// force sets the head, also backwards: a person accepted the loss.
func (h *head) force(m mark) error {
	return h.locked(func(fd int) error {
		_, err := unix.Pwrite(fd, append(m.encode(), m.encode()...), 0)
		return firstError(err, unix.Fsync(fd))
	})
}

// locked opens by name each time, so that a head that was taken away is made
// anew; by plain system calls, because every commit comes through here.
func (h *head) locked(do func(fd int) error) error {
	fd, err := unix.Open(h.path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd) // drops the lock
	if err := takeHead(fd); err != nil {
		return err
	}
	return do(fd)
}

// headPatience bounds the wait for another process's write of the head. That
// process may be stopped; what it holds up is already durable, and the head is
// only a lower bound, so the next commit may move it just as well.
const headPatience = 100 * time.Millisecond

func takeHead(fd int) error {
	for end := time.Now().Add(headPatience); ; time.Sleep(time.Millisecond) {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || err != unix.EWOULDBLOCK && err != unix.EINTR || time.Now().After(end) {
			return err
		}
	}
}

// ensure creates the file, durably, before anything is acknowledged.
func (h *head) ensure() error {
	if _, err := os.Lstat(h.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := h.force(mark{id: h.id}); err != nil {
		return errkind.New(errkind.NotNow, "cannot write %s", h.path).Wrap(err)
	}
	d, err := os.Open(filepath.Dir(h.path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// read returns the furthest mark; the zero mark when there is no file. A file
// without one good slot is Damaged.
func (h *head) read() (mark, error) {
	f, err := os.OpenFile(h.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, errkind.New(errkind.Refused, "cannot read %s", h.path).Wrap(err)
	}
	defer f.Close()
	best, _ := order(readSlots(int(f.Fd())))
	return best, nil
}

func readSlots(fd int) [2]mark {
	b := make([]byte, 2*slotSize)
	n, _ := unix.Pread(fd, b, 0) // a short file has empty slots
	var slots [2]mark
	for i := range slots {
		if n >= (i+1)*slotSize {
			slots[i] = decodeMark(b[i*slotSize : (i+1)*slotSize])
		}
	}
	return slots
}

// order returns the further mark and the number of the other slot.
func order(slots [2]mark) (best mark, lesser int) {
	if slots[0].id == "" || (slots[1].id != "" && slots[1].total() >= slots[0].total()) {
		return slots[1], 0
	}
	return slots[0], 1
}

func (m mark) encode() []byte {
	b := make([]byte, 0, slotSize)
	b = append(b, headMagic...)
	b = append(b, m.id...)
	for _, l := range []link{m.event, m.transition} {
		b = binary.BigEndian.AppendUint64(b, uint64(l.seq))
		b = append(b, l.hash[:]...)
	}
	sum := sha256.Sum256(b)
	b = append(b, sum[:]...)
	return append(b, make([]byte, slotSize-len(b))...)
}

// decodeMark returns the zero mark for anything but a whole, intact slot.
func decodeMark(b []byte) (m mark) {
	const body = len(headMagic) + 8 + 2*(8+sha256.Size)
	sum := sha256.Sum256(b[:body])
	if !bytes.HasPrefix(b, []byte(headMagic)) || !bytes.Equal(sum[:], b[body:body+sha256.Size]) {
		return mark{}
	}
	b = b[len(headMagic):]
	m.id, b = string(b[:8]), b[8:]
	for _, l := range []*link{&m.event, &m.transition} {
		l.seq = int64(binary.BigEndian.Uint64(b))
		l.hash.scan(b[8 : 8+sha256.Size])
		b = b[8+sha256.Size:]
	}
	return m
}
