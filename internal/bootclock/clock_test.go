package bootclock_test

import (
	"testing"

	"arkamsg/internal/bootclock"
)

func TestClockRisesAndBootHasAName(t *testing.T) {
	before := bootclock.Now()
	after := bootclock.Now()
	if before <= 0 || after < before {
		t.Errorf("the clock went from %v to %v", before, after)
	}
	first, err := bootclock.ID()
	if err != nil || first == "" {
		t.Fatalf("ID = %q, %v", first, err)
	}
	if second, _ := bootclock.ID(); second != first {
		t.Errorf("one boot, two names: %q and %q", first, second)
	}
}
