package bench

import (
	"context"
	"testing"
	"time"
)

// BenchmarkUpkeep delivers without a break while old history moves to its
// archive, and looks for the longest wait of an append, a claim or a delivery.
// Quiet stretches alternate with those of the archive, because a shared disk
// makes everybody wait at times. The bound on what the archive adds is 50 ms.
func BenchmarkUpkeep(b *testing.B) {
	dir, err := years()
	check(b, err)
	quiet, upkeep := newWorker(b, dir, "quiet"), newWorker(b, dir, "upkeep")
	const stretch = time.Second
	moved := 0
	for b.Loop() {
		quiet.during(b, stretch)
		done := make(chan int)
		ctx, stop := context.WithCancel(b.Context())
		go func() {
			n, _ := upkeep.Archive(ctx, time.Now().Add(time.Hour)) // ends by being stopped
			done <- n
		}()
		upkeep.during(b, stretch)
		stop()
		moved += <-done
	}
	if moved == 0 {
		b.Fatal("nothing was archived meanwhile")
	}
	quietly(b)
	b.ReportMetric(float64(moved), "archived")
	for name, w := range map[string]*worker{"quiet": quiet, "upkeep": upkeep} {
		steps := w.steps()
		steps.report(b, 0.99, "ms-p99-"+name)
		steps.report(b, 1, "ms-longest-"+name)
	}
}

func (w *worker) during(b *testing.B, d time.Duration) {
	b.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		w.cycle(b)
	}
}

// steps are all waits of the worker, whatever it waited for.
func (w *worker) steps() sample {
	all := append(sample(nil), w.appends...)
	return append(append(all, w.claims...), w.finishes...)
}
