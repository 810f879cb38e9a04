package fault

import (
	"testing"
)

// The first acceptance of the contract: 100 of 100, none twice, nothing left.
func TestFlow(t *testing.T) {
	t.Parallel()
	t.Run("one lane", func(t *testing.T) { flow(t, "100 in a row, one pane", size(12, 100), "A") })
	t.Run("lanes", func(t *testing.T) { flow(t, "in a row, four panes", size(24, 10_000), "A", "B", "C", "D") })
}

func flow(t *testing.T, scenario string, n int, roles ...string) {
	s := newStage(t, scenario, roles...)
	d := s.daemon()
	s.send(n, roles...)
	s.drained(d)
	s.certain()
	sum, err := s.room.Journal.Summary(t.Context())
	s.check(err)
	if sum.Delivered != int64(n) || sum.Failed != 0 || sum.Counters["duplicates_suppressed_total"] != 0 {
		t.Errorf("%d sent: %+v", n, sum)
	}
}
