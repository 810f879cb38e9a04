package competences

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/competences/refusal"
	"arkamsg/journal"
)

// broken is a disk on which one operation fails.
type broken struct {
	disk
	op  string // create, write, fsync, close, link, unlink, syncDir, read
	err error
	n   int // fails this many times; then the disk works again
}

func (b *broken) fails(op string) error {
	if b.op != op || b.n == 0 {
		return nil
	}
	b.n--
	return b.err
}

func (b *broken) create(name string) (tempFile, error) {
	if err := b.fails("create"); err != nil {
		return nil, err
	}
	f, err := b.disk.create(name)
	return &brokenFile{f, b}, err
}

func (b *broken) link(from, to string) error {
	if err := b.fails("link"); err != nil {
		return err
	}
	return b.disk.link(from, to)
}

func (b *broken) remove(name string) error {
	if err := b.fails("unlink"); err != nil {
		return err
	}
	return b.disk.remove(name)
}

func (b *broken) syncDir(name string) error {
	if err := b.fails("syncDir"); err != nil {
		return err
	}
	return b.disk.syncDir(name)
}

// read returns a damaged file.
func (b *broken) read(name string) ([]byte, error) {
	data, err := b.disk.read(name)
	if b.fails("read") != nil {
		return []byte(strings.Replace(string(data), "version: 1", "version: 2", 1)), err
	}
	return data, err
}

type brokenFile struct {
	tempFile
	b *broken
}

// Write writes half and fails, as a full disk does.
func (f *brokenFile) Write(p []byte) (int, error) {
	if err := f.b.fails("write"); err != nil {
		n, _ := f.tempFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.tempFile.Write(p)
}

func (f *brokenFile) Sync() error {
	if err := f.b.fails("fsync"); err != nil {
		return err
	}
	return f.tempFile.Sync()
}

func (f *brokenFile) Close() error {
	return errors.Join(f.b.fails("close"), f.tempFile.Close())
}

// TestFaultsLeaveACleanState: 500, no file, no audit, nothing in flight; the
// same key succeeds when the disk works again. Seed §7:
// test_post_write_roundtrip_corrupt_yaml_500 is the last one.
func TestFaultsLeaveACleanState(t *testing.T) {
	for _, c := range []struct {
		op   string
		err  error
		code refusal.Code
	}{
		{"create", syscall.EROFS, refusal.PersistFailed},
		{"create", syscall.EACCES, refusal.PersistFailed},
		{"create", syscall.ENOSPC, refusal.PersistFailed},
		{"write", syscall.ENOSPC, refusal.PersistFailed},
		{"write", syscall.EIO, refusal.PersistFailed},
		{"fsync", syscall.EIO, refusal.PersistFailed},
		{"close", syscall.EDQUOT, refusal.PersistFailed},
		{"link", syscall.EMLINK, refusal.PersistFailed},
		{"link", syscall.EROFS, refusal.PersistFailed},
		{"unlink", syscall.EIO, refusal.PersistFailed},
		{"syncDir", syscall.EIO, refusal.PersistFailed},
		{"read", errors.New("corrupt"), refusal.RoundTripFailed},
	} {
		t.Run(c.op+" "+c.err.Error(), func(t *testing.T) {
			f := start(t, t.TempDir(), Settings{})
			real := f.disk
			f.disk = &broken{real, c.op, c.err, 1}
			p, id := f.machine(t, "M1"), persistID()
			_, err := f.Persist(bg, p, body("M1", "Disque en panne", id))
			if code(err) != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if left := f.files(t); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if queued, _ := f.journal.Events(bg, journal.Filter{States: []journal.State{journal.Queued, journal.Dispatched}}); len(queued) != 0 {
				t.Errorf("still in flight: %v", queued)
			}
			f.disk = real
			if a, err := f.Persist(bg, p, body("M1", "Disque en panne", id)); err != nil || !a.Created {
				t.Errorf("after the repair: %v", err)
			}
			f.sound(t)
		})
	}
}

// TestFaultThatCannotBeCleanedIsFinishedLater: the file stands, nothing can be
// removed, so the outcome is unknown and the same key finds out.
func TestFaultThatCannotBeCleanedIsFinishedLater(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	real := f.disk
	f.disk = &broken{real, "unlink", syscall.EIO, 1000}
	p, id := f.machine(t, "M1"), persistID()
	if _, err := f.Persist(bg, p, body("M1", "Disque en panne", id)); code(err) != refusal.OutcomeUnknown {
		t.Fatalf("%v", err)
	}
	f.disk = real
	if a, err := f.Persist(bg, p, body("M1", "Disque en panne", id)); err != nil || a.Created {
		t.Errorf("%+v %v", a, err)
	}
	f.sound(t)
}

// TestRealReadOnlyFolder needs no decorator: the folder is not there.
func TestRealFolderGone(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	folder := filepath.Join(f.home, Folder, "candidate")
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	p, id := f.machine(t, "M1"), persistID()
	if _, err := f.Persist(bg, p, body("M1", "Sans dossier", id)); code(err) != refusal.PersistFailed {
		t.Fatalf("%v", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Persist(bg, p, body("M1", "Sans dossier", id)); err != nil {
		t.Error(err)
	}
}

// TestLinkHasTheLastWord: a file that appears between the door's look and the
// link wins, and nothing of ours remains.
func TestLinkHasTheLastWord(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	f.disk = &hooked{f.disk, func() {
		if err := os.WriteFile(filepath.Join(f.home, Folder, "candidate/intrus.yaml"), []byte("x"), 0o600); err != nil {
			t.Error(err)
		}
	}}
	if _, err := f.Persist(bg, f.machine(t, "M1"), body("M1", "Intrus", persistID())); code(err) != refusal.CompetenceExists {
		t.Fatalf("%v", err)
	}
	if left := f.files(t); len(left) != 1 {
		t.Errorf("%v", left)
	}
	if got := lineCount(t, f, auditFile); got != 0 {
		t.Errorf("%d audit lines", got)
	}
}

// TestUnlearnWaitsForAPersistInFlight: a persist that another process has begun
// is kept first and then unlearned; it never appears afterwards.
func TestUnlearnWaitsForAPersistInFlight(t *testing.T) {
	home := t.TempDir()
	f, other := start(t, home, Settings{}), start(t, home, Settings{})
	unlearned := make(chan error, 1)
	f.disk = &hooked{disk: f.disk, beforeLink: func() {
		go func() { unlearned <- other.Unlearn(bg, "en_vol", "dom", "obsolète") }()
		eventually(t, func() bool { b, err := f.blocked(bg); return err == nil && b["en_vol"] })
		select { // it must not be done before the file is there
		case err := <-unlearned:
			t.Errorf("unlearned (%v) while the persist was in flight", err)
			unlearned <- err
		case <-time.After(200 * time.Millisecond):
		}
	}}
	if a, err := f.PersistLocal(bg, body("M1", "En vol", persistID())); err != nil || !a.Created {
		t.Fatalf("%+v %v", a, err)
	}
	if err := <-unlearned; err != nil {
		t.Error(err)
	}
	if got := f.files(t); len(got) != 1 { // the audit
		t.Errorf("%v", got)
	}
	f.sound(t)
}

// hooked runs something right before the link.
type hooked struct {
	disk
	beforeLink func()
}

func (h *hooked) link(from, to string) error {
	h.beforeLink()
	return h.disk.link(from, to)
}

func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never came true")
		}
	}
}

// TestTempsOfTheDeadAreSwept and those of the living are not.
func TestTempsOfTheDeadAreSwept(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	dir := filepath.Join(f.home, Folder, "candidate")
	for _, name := range []string{".mort.yaml.tmp.99999999", ".vivant.yaml.tmp.1", "note.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Recover(bg); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.files(t), " "); strings.Contains(got, "mort") || !strings.Contains(got, "vivant") || !strings.Contains(got, "note") {
		t.Errorf("%s", got)
	}
}
