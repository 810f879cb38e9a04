package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// fillLane appends n events with one transition each and closes nothing.
func fillLane(t *testing.T, j *Journal, n int) {
	t.Helper()
	for i := range n {
		must(j.Append(t.Context(), note(fmt.Sprint("m", i), "lane")))
		check(t, j.Deliver(t.Context(), must(j.Claim(t.Context(), "lane", "h", time.Minute, 0)), Outcome{}))
	}
}

// snapshotFiles copies the journal as a crash would leave it, WAL included.
func snapshotFiles(t *testing.T, home string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"journal.db", "journal.db-wal", "journal.head"} {
		copyFile(t, filepath.Join(home, name), filepath.Join(to, name))
	}
	return to
}

// copyFile must only be used on files that no connection of this process needs
// any more, or to make copies that are looked at elsewhere.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return
	}
	check(t, err)
	check(t, os.WriteFile(to, b, 0o600))
}

func refusedAsDamaged(t *testing.T, home string) error {
	t.Helper()
	j, err := Open(t.Context(), home, Options{})
	if err == nil {
		_ = j.Close()
		t.Fatal("a damaged journal was opened for writing")
	}
	if errkind.Of(err) != errkind.Damaged || errkind.Hint(err) == "" {
		t.Fatalf("not named as damage, or without a way out: %v (hint %q)", err, errkind.Hint(err))
	}
	return err
}

// crashedHome is a home whose last process was killed: the rows are in the WAL.
func crashedHome(t *testing.T, n int) string {
	t.Helper()
	home := t.TempDir()
	child(t, "append-and-die", home, fmt.Sprint(n)).wait(t, syscall.SIGKILL)
	if st, err := os.Stat(filepath.Join(home, "journal.db-wal")); err != nil || st.Size() == 0 {
		t.Fatalf("no WAL to damage: %v", err)
	}
	return home
}

func TestFlippedBitInTheWALIsSeen(t *testing.T) {
	home := crashedHome(t, 20)
	wal := filepath.Join(home, "journal.db-wal")
	b := must(os.ReadFile(wal))
	for _, at := range []int{len(b) / 4, len(b) / 2, len(b) - 3000} {
		hurt := snapshotFiles(t, home)
		flipped := append([]byte(nil), b...)
		flipped[at] ^= 0x10
		check(t, os.WriteFile(filepath.Join(hurt, "journal.db-wal"), flipped, 0o600))
		refusedAsDamaged(t, hurt)
		if kept := must(os.ReadFile(filepath.Join(hurt, "journal.db-wal"))); string(kept) != string(flipped) {
			t.Error("the refused start destroyed the evidence in the WAL")
		}
	}
	verifyClean(t, openIn(t, snapshotFiles(t, home), newFakeClock())) // the copy itself was good
}

func TestOlderBackupPutBackIsSeenAndCanBeAccepted(t *testing.T) {
	home, clock := t.TempDir(), newFakeClock()
	j := must(Open(t.Context(), home, Options{Clock: clock, Sync: "off"}))
	fillLane(t, j, 5)
	old := filepath.Join(t.TempDir(), "old.db")
	check(t, j.Backup(t.Context(), old))
	must(j.Append(t.Context(), note("later", "lane")))
	check(t, j.Close())
	copyFile(t, old, filepath.Join(home, "journal.db"))

	refusedAsDamaged(t, home)
	ro := must(Open(t.Context(), home, Options{ReadOnly: true})) // status and verify still look
	if ro.Damage() == nil || must(ro.Verify(t.Context())).OK() {
		t.Error("verify does not see it")
	}
	check(t, ro.Close())

	j = must(Open(t.Context(), home, Options{AcceptLoss: true, Clock: clock}))
	before := j.ID()
	check(t, j.Rebuild(t.Context()))
	check(t, j.AcceptHead(t.Context()))
	if j.ID() == before {
		t.Error("the marks of lost events would be taken for those of new ones")
	}
	check(t, j.Close())
	j = openIn(t, home, clock)
	verifyClean(t, j)
	if facts := must(j.Events(t.Context(), Filter{Kinds: []Kind{KindLoss}})); len(facts) != 1 {
		t.Errorf("the accepted loss is not on record: %v", facts)
	}
}

func TestLostOrForeignFilesAreSeen(t *testing.T) {
	for name, hurt := range map[string]func(home string) error{
		"journal gone":  func(h string) error { return os.Remove(filepath.Join(h, "journal.db")) },
		"journal empty": func(h string) error { return os.Truncate(filepath.Join(h, "journal.db"), 0) },
		"head gone":     func(h string) error { return os.Remove(filepath.Join(h, "journal.head")) },
		"head torn":     func(h string) error { return os.Truncate(filepath.Join(h, "journal.head"), 100) },
		"not a database": func(h string) error {
			return os.WriteFile(filepath.Join(h, "journal.db"), []byte(strings.Repeat("nonsense", 2000)), 0o600)
		},
		"another journal": func(h string) error {
			other := filepath.Join(h, "other")
			j, err := Open(context.Background(), other, Options{})
			if err != nil {
				return err
			}
			if err := j.Close(); err != nil {
				return err
			}
			return os.Rename(filepath.Join(other, "journal.db"), filepath.Join(h, "journal.db"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			j := must(Open(t.Context(), home, Options{Sync: "off"}))
			fillLane(t, j, 3)
			check(t, j.Close())
			check(t, hurt(home))
			refusedAsDamaged(t, home)
		})
	}
}

func TestTornHeadSlotLeavesTheOther(t *testing.T) {
	home := t.TempDir()
	j := must(Open(t.Context(), home, Options{Sync: "off"}))
	fillLane(t, j, 3)
	check(t, j.Close())
	path := filepath.Join(home, "journal.head")
	b := must(os.ReadFile(path))
	_, lesser := order([2]mark{decodeMark(b[:slotSize]), decodeMark(b[slotSize:])})
	b[lesser*slotSize+20] ^= 1 // a write is always to the lesser slot
	check(t, os.WriteFile(path, b, 0o600))
	verifyClean(t, openIn(t, home, newFakeClock()))
}

func TestCorruptPageIsFound(t *testing.T) {
	home := t.TempDir()
	j := must(Open(t.Context(), home, Options{Sync: "off"}))
	fillLane(t, j, 200)
	check(t, j.Close())
	path := filepath.Join(home, "journal.db")
	b := must(os.ReadFile(path))
	hurt := bytes.ReplaceAll(b, []byte(`{"id":"m17"}`), []byte(`{"id":"m18"}`)) // SQLite itself says ok
	check(t, os.WriteFile(path, hurt, 0o600))
	j = must(Open(t.Context(), home, Options{ReadOnly: true}))
	r := must(j.Verify(t.Context()))
	check(t, j.Close())
	if r.OK() || r.Findings[0].Code != "event_changed" || !strings.Contains(errkind.Hint(r.Err()), "backup") {
		t.Fatalf("%+v", r)
	}
	for i := 3 * 4096; i < 4*4096; i++ { // a whole page
		b[i] = 0xff
	}
	check(t, os.WriteFile(path, b, 0o600))
	j, err := Open(t.Context(), home, Options{ReadOnly: true})
	if err != nil {
		if errkind.Of(err) != errkind.Damaged {
			t.Fatal(err)
		}
		return
	}
	defer j.Close()
	if r := must(j.Verify(t.Context())); r.OK() {
		t.Fatal("a page of nonsense was not found")
	}
}

// raw runs statements past all guards, as an accident with sqlite3 would.
func raw(t *testing.T, j *Journal, statements ...string) {
	t.Helper()
	check(t, j.DB().Write(t.Context(), func(tx *sqlite.Tx) error {
		for _, s := range append([]string{
			`DROP TRIGGER transition_is_append_only_delete`, `DROP TRIGGER event_is_append_only_delete`,
		}, statements...) {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestVerifyFindsWhatIsMissingOrLies(t *testing.T) {
	for name, c := range map[string]struct{ hurt, code, hint string }{
		"missing transition":       {`DELETE FROM transition WHERE seq = 3`, "transition_missing", "backup"},
		"missing event":            {`DELETE FROM event WHERE id = 2`, "event_missing", "backup"},
		"work that never was":      {`INSERT INTO work(lane, event_id, kind, test, state) VALUES('lane', 2, 'notify', 0, 'queued')`, "work_lies", "rebuild"},
		"work that is gone":        {`DELETE FROM work`, "work_lies", "rebuild"},
		"a fence that was turned":  {`UPDATE work SET fence = 7`, "work_lies", "rebuild"},
		"a counter that lies":      {`UPDATE counter SET value = value + 1 WHERE name = 'delivered'`, "counter_lies", "rebuild"},
		"dead letter that is gone": {`DELETE FROM dead`, "dead_lies", "rebuild"},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := openTest(t)
			fillLane(t, j, 4)
			must(j.Append(t.Context(), note("dead", "d")))
			check(t, j.Fail(t.Context(), must(j.Claim(t.Context(), "d", "h", time.Minute, 0)), ReasonInvalid, Outcome{}))
			must(j.Append(t.Context(), note("open", "o")))
			raw(t, j, c.hurt)
			r := must(j.Verify(t.Context()))
			if r.OK() || r.Findings[0].Code != c.code || !strings.Contains(errkind.Hint(r.Err()), c.hint) {
				t.Fatalf("%+v\nhint %q", r, errkind.Hint(r.Err()))
			}
			if c.hint == "rebuild" {
				check(t, j.Rebuild(t.Context()))
				verifyClean(t, j)
			}
		})
	}
}

func TestTakenAwayUnderARunningWriter(t *testing.T) {
	for name, hurt := range map[string]func(path string) error{
		"deleted":     os.Remove,
		"wal deleted": func(p string) error { return os.Remove(p + "-wal") },
		"swapped": func(p string) error {
			if err := os.Rename(p, p+".away"); err != nil {
				return err
			}
			return os.WriteFile(p, nil, 0o600)
		},
		"linked": func(p string) error { return os.Link(p, p+".twin") },
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := openTest(t)
			fillLane(t, j, 3)
			check(t, hurt(j.DB().Path()))
			_, err := j.Append(t.Context(), note("lost", "lane"))
			if errkind.Of(err) != errkind.Damaged || !errkind.IsUnknown(err) || errkind.Hint(err) == "" {
				t.Fatalf("acknowledged, or not named: %v", err)
			}
			if _, err := j.Append(t.Context(), note("next", "lane")); errkind.Of(err) != errkind.Damaged {
				t.Fatalf("went on writing: %v", err)
			}
			if name == "deleted" {
				path := must(j.Rescue(t.Context()))
				if _, err := os.Stat(path); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	home := t.TempDir()
	j := must(Open(t.Context(), home, Options{Sync: "off"}))
	check(t, j.DB().Write(t.Context(), func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO migration(owner, name, applied_at) VALUES('journal', '9999_future.sql', 0)`)
		return err
	}))
	check(t, j.Close())
	if _, err := Open(t.Context(), home, Options{Sync: "off"}); errkind.Of(err) != errkind.Conflict || errkind.Hint(err) == "" {
		t.Fatalf("%v", err)
	}
}

// TestReadOnlyHome looks at a home as somebody who may not write there: root
// may write everywhere, so a child does it as nobody.
func TestReadOnlyHome(t *testing.T) {
	home := t.TempDir()
	j := must(Open(t.Context(), home, Options{Sync: "off"}))
	fillLane(t, j, 3)
	check(t, j.Close())
	lockedForNobody(t, home)
	before := names(t, home)
	child(t, "status", home).asNobody(t).wait(t, 0)
	child(t, "append-refused", home).asNobody(t).wait(t, 0)
	if after := names(t, home); before != after {
		t.Fatalf("looking changed the home:\n%s\n%s", before, after)
	}
}

// lockedForNobody makes a home that only can be read.
func lockedForNobody(t *testing.T, home string) {
	t.Helper()
	openToNobody(t, home)
	for _, name := range []string{"journal.db", "journal.head"} {
		check(t, os.Chmod(filepath.Join(home, name), 0o444))
	}
	check(t, os.Chmod(home, 0o555))
	t.Cleanup(func() { _ = os.Chmod(home, 0o755) })
}

// openToNobody lets everybody pass through our own temporary folders.
func openToNobody(t *testing.T, dir string) {
	t.Helper()
	for ; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		check(t, os.Chmod(dir, 0o755))
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	for _, e := range must(os.ReadDir(dir)) {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}
