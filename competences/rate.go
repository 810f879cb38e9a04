package competences

import (
	"sync"
	"time"
)

// span is the length of the window.
const span = time.Minute

// window admits n calls per machine in any 60 seconds. A token bucket of the
// same rate would admit up to twice as many in the first minute.
//
// Memory is bounded by the machines that were authenticated: only they get
// here, each costs at most n times, and one that has been quiet for a minute
// costs nothing. The zero value is ready; now is time.Now unless a test says
// otherwise.
type window struct {
	mu    sync.Mutex
	calls map[string][]time.Time // ascending
	now   func() time.Time
	swept time.Time
}

// take spends a call, or says how long to wait for the next.
func (w *window) take(machine string, n int) (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string][]time.Time{}
	}
	now := w.clock()
	w.sweep(now)
	recent := since(w.calls[machine], now.Add(-span))
	if len(recent) >= n {
		w.calls[machine] = recent
		return recent[len(recent)-n].Add(span).Sub(now), false
	}
	w.calls[machine] = append(recent, now)
	return 0, true
}

func (w *window) clock() time.Time {
	if w.now != nil {
		return w.now()
	}
	return time.Now()
}

// sweep forgets the machines that were quiet, once a window.
func (w *window) sweep(now time.Time) {
	if now.Sub(w.swept) < span {
		return
	}
	w.swept = now
	for machine, calls := range w.calls {
		if len(since(calls, now.Add(-span))) == 0 {
			delete(w.calls, machine)
		}
	}
}

// since returns the calls after t.
func since(calls []time.Time, t time.Time) []time.Time {
	for i, c := range calls {
		if c.After(t) {
			return calls[i:]
		}
	}
	return nil
}
