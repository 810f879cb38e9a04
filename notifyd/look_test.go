package notifyd

import (
	"strings"
	"testing"

	"arkamsg/journal"
)

// A reason without a remedy is a riddle: each has one that ends in something to
// type or to do, with the message and the session in it.
func TestEveryReasonHasARemedy(t *testing.T) {
	for _, r := range journal.Reasons {
		remedy, own := remedies[r]
		if !own || remedy == "" {
			t.Errorf("%s has no remedy", r)
		}
		if !strings.Contains(remedy, "arkamsg ") && !strings.Contains(remedy, "tmux ") {
			t.Errorf("%s: %q names no command", r, remedy)
		}
		said := RemedyFor(r, "m-1", "arka-p-PMO-codex")
		if strings.Contains(said, " ID") || strings.Contains(said, "PANE") {
			t.Errorf("%s: a placeholder is left in %q", r, said)
		}
	}
	if got := RemedyFor("of.a.job", "j-1", ""); got != "arkamsg show j-1" {
		t.Errorf("a reason that is not ours: %q", got)
	}
}
