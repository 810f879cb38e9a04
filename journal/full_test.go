package journal

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// TestFullDisk fills a small file system of its own. Where mounting is not
// allowed the same is asked of SQLite (max_page_count).
func TestFullDisk(t *testing.T) {
	home := t.TempDir()
	if err := syscall.Mount("tmpfs", home, "tmpfs", 0, "size=6m"); err != nil {
		t.Logf("no tmpfs here (%v): a page limit stands in", err)
		testPageLimit(t)
		return
	}
	t.Cleanup(func() { _ = syscall.Unmount(home, syscall.MNT_DETACH) })
	j := must(Open(t.Context(), home, Options{Clock: newFakeClock()}))
	defer j.Close()
	must(j.Append(t.Context(), note("in-hand", "hand")))
	ticket := must(j.Claim(t.Context(), "hand", "h", time.Hour, 0))
	accepted := appendUntilFull(t, j)

	check(t, j.Deliver(t.Context(), ticket, Outcome{Detail: "recorded on a full disk"}))
	if _, err := j.Append(t.Context(), note("still-full", "lane")); errkind.Of(err) != errkind.NotNow {
		t.Fatalf("appended into the reserve: %v", err)
	}
	if rec := must(j.Get(t.Context(), "in-hand")); rec.State != Delivered {
		t.Fatalf("%+v", rec)
	}
	known := must(j.Exists(t.Context(), accepted...))
	for _, id := range accepted {
		if !known[id] {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
	verifyClean(t, j)
	check(t, syscall.Mount("tmpfs", home, "tmpfs", syscall.MS_REMOUNT, "size=32m"))
	must(j.Append(t.Context(), note("room-again", "lane")))
	verifyClean(t, j)
}

// appendUntilFull returns what was acknowledged.
func appendUntilFull(t *testing.T, j *Journal) (accepted []MessageID) {
	t.Helper()
	big := []byte(`"` + strings.Repeat("x", 20_000) + `"`)
	for i := range 10_000 {
		id := MessageID(fmt.Sprint("fill", i))
		_, err := j.Append(t.Context(), NewEvent{MessageID: id, Kind: KindNotify, Lane: "lane", Body: big})
		if err == nil {
			accepted = append(accepted, id)
			continue
		}
		if errkind.Of(err) != errkind.NotNow || errkind.Hint(err) == "" {
			t.Fatalf("a full disk is not named: %v", err)
		}
		return accepted
	}
	t.Fatal("the disk never filled")
	return nil
}

// testPageLimit shows the same of a database that may not grow.
func testPageLimit(t *testing.T) {
	j, _ := openTest(t)
	check(t, j.DB().Write(t.Context(), func(tx *sqlite.Tx) error {
		var pages int
		return tx.QueryRow(`PRAGMA max_page_count = 60`).Scan(&pages)
	}))
	accepted := appendUntilFull(t, j)
	known := must(j.Exists(t.Context(), accepted...))
	for _, id := range accepted {
		if !known[id] {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
	verifyClean(t, j)
}
