package notifyd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/journal"
)

func TestLookAroundSaysWhyNot(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.shut("PMO")
	file, err := config.Load(s.home)
	s.check(err)
	eventually(t, "the agents draw their composers", func() bool {
		views, err := LookAround(t.Context(), file)
		s.check(err)
		got := map[string]journal.Reason{}
		for _, v := range views {
			got[string(v.Role)] = v.Reason
		}
		return len(views) == 3 && got["LD"] == "" && got["PMO"] == journal.ReasonPaneInMode &&
			got["Ghost"] == journal.ReasonMissingSession
	})
}

// A stuck tmux costs the patience for one session, however many there are.
func TestLookAroundAtAStuckTmux(t *testing.T) {
	s := set(t, "PMO")
	var b strings.Builder
	for i := range 8 {
		fmt.Fprintf(&b, "  R%d: [arka-t-R%d-codex]\n", i, i)
	}
	s.more = "allow:\n" + b.String()
	s.configure()
	file, err := config.Load(s.home)
	s.check(err)
	s.freeze()
	began := time.Now()
	views, err := LookAround(t.Context(), file)
	s.check(err)
	if took := time.Since(began); len(views) != 8 || took > 7*time.Second {
		t.Errorf("%d views took %v", len(views), took)
	}
	for _, v := range views {
		if v.Reason != journal.ReasonTmuxUnavailable {
			t.Errorf("%s: %s", v.Session, v.Reason)
		}
	}
}
