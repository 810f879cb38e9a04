package journal

import (
	"fmt"
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
	big := fmt.Appendf(nil, "%q", strings.Repeat("x", 1<<20))
	check(t, j.DB().Read(t.Context(), func(tx *sqlite.Tx) error {
		var n int
		if err := tx.QueryRow(`SELECT count(*) FROM event`).Scan(&n); err != nil {
			return err
		}
		for i := range walAlarm>>20 + 1 {
			must(j.Append(t.Context(), NewEvent{MessageID: MessageID(fmt.Sprint("big", i)), Kind: KindNotify, Lane: "lane", Body: big}))
		}
		return nil
	}))
	if !strained("write-ahead log has grown") {
		t.Errorf("a log beyond %d bytes is not shown: %v", walAlarm, j.Strains())
	}
}
