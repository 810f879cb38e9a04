package journal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arkamsg/internal/sqlite"
)

// No degraded mode is silent (RELIABILITY 15).
func TestStrainsAreNamed(t *testing.T) {
	j, _ := openTest(t)
	strained := func(word string) bool {
		return slices.ContainsFunc(j.Strains(), func(s Strain) bool { return strings.Contains(s.What, word) && s.Remedy != "" })
	}
	must(j.Append(t.Context(), note("m", "lane")))
	if strained("write-ahead") || strained("reserve") {
		t.Fatalf("a healthy journal: %v", j.Strains())
	}
	if !strained("journal.sync is off") { // openTest's own
		t.Error("a weaker sync is not shown")
	}
	check(t, os.Remove(filepath.Join(j.home, "journal.reserve")))
	if !strained("reserve") {
		t.Error("a used-up reserve is not shown")
	}

	// A reader that stays keeps the log from being folded back.
	check(t, j.DB().Read(t.Context(), func(tx *sqlite.Tx) error {
		var n int
		if err := tx.QueryRow(`SELECT count(*) FROM event`).Scan(&n); err != nil {
			return err
		}
		return j.DB().Write(t.Context(), func(tx *sqlite.Tx) error {
			_, err := tx.Exec(`CREATE TABLE scratch AS SELECT randomblob(?) AS x`, walAlarm+1)
			return err
		})
	}))
	if !strained("write-ahead log has grown") {
		t.Errorf("a log beyond %d bytes is not shown: %v", walAlarm, j.Strains())
	}
}
