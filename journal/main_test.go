package journal

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// fakeClock is stepped by hand: the wall and the boot clock separately.
type fakeClock struct {
	mu   sync.Mutex
	wall time.Time
	boot string
	up   time.Duration
}

func newFakeClock() *fakeClock {
	return &fakeClock{wall: time.Date(2026, 6, 1, 18, 20, 5, 0, time.UTC), boot: "boot-1", up: time.Hour}
}

func (c *fakeClock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *fakeClock) Boot() (string, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.boot, c.up
}

func (c *fakeClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.up = c.wall.Add(d), c.up+d
}

func openTest(t *testing.T) (*Journal, *fakeClock) {
	t.Helper()
	clock := newFakeClock()
	return openIn(t, t.TempDir(), clock), clock
}

func openIn(t *testing.T, home string, clock Clock) *Journal {
	t.Helper()
	j, err := Open(t.Context(), home, Options{Clock: clock, Sync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func note(id, lane string) NewEvent {
	return NewEvent{MessageID: MessageID(id), Kind: KindNotify, Lane: Lane(lane), Body: fmt.Appendf(nil, `{"id":%q}`, id)}
}

// must panics with the error: testing shows it with the line that called.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func verifyClean(t *testing.T, j *Journal) {
	t.Helper()
	r, err := j.Verify(t.Context())
	check(t, err)
	check(t, r.Err())
}
