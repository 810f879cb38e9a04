package bench

import (
	"context"
	"testing"
	"time"
)

// BenchmarkUpkeep delivers without a break while old history moves to its
// archive, and looks for the longest wait of an append, a claim or a delivery.
// Quiet seconds alternate with those of the archive, because a shared disk makes
// everybody wait at times; the median of the longest waits is what counts. The
// bound is 50 ms.
func BenchmarkUpkeep(b *testing.B) {
	dir, err := years()
	check(b, err)
	w := newWorker(b, dir, "upkeep")
	var quiet, upkeep sample
	moved := 0
	for b.Loop() {
		quiet = append(quiet, w.longest(b, time.Second))
		done := make(chan int)
		ctx, stop := context.WithCancel(b.Context())
		go func() {
			n, _ := w.Archive(ctx, time.Now().Add(time.Hour)) // ends by being stopped
			done <- n
		}()
		upkeep = append(upkeep, w.longest(b, time.Second))
		stop()
		moved += <-done
	}
	if moved == 0 {
		b.Fatal("nothing was archived meanwhile")
	}
	quietly(b)
	b.ReportMetric(float64(moved), "archived")
	quiet.report(b, 0.5, "ms-longest-quiet")
	upkeep.report(b, 0.5, "ms-longest-upkeep")
}

// longest is the worst wait of a worker that cycles for a while.
func (w *worker) longest(b *testing.B, d time.Duration) time.Duration {
	b.Helper()
	w.appends, w.claims, w.finishes = nil, nil, nil
	for end := time.Now().Add(d); time.Now().Before(end); {
		w.cycle(b)
	}
	return max(w.appends.at(1), w.claims.at(1), w.finishes.at(1))
}
