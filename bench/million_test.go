package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/config"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

// The large journal: what a home looks like after years, made once per run and
// shared. Everything in it went through the journal's own code.
const (
	delivered = 1_000_000
	queued    = 10_000
)

// readers are the roles that the queued messages wait for.
var readers = []string{"R0", "R1", "R2", "R3"}

// years is the folder of the large journal. A benchmark that delivers what is
// queued there must not let it happen.
var years = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "years")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	j, err := journal.Open(context.Background(), dir, journal.Options{Sync: "off"})
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := inChunks(j, delivered, appendDelivered); err != nil {
		return "", err
	}
	if err := inChunks(j, queued, appendQueued); err != nil {
		return "", err
	}
	fmt.Printf("# %d delivered and %d queued events made in %v\n", delivered, queued, time.Since(start).Round(time.Second))
	if err := j.Close(); err != nil {
		return "", err
	}
	unix.Sync() // or it would be written while something else is measured
	return dir, nil
})

func inChunks(j *journal.Journal, n int, each func(*journal.Tx, int) error) error {
	const chunk = 10_000
	for done := 0; done < n; done += chunk {
		err := j.Update(context.Background(), func(tx *journal.Tx) error {
			for i := done; i < min(done+chunk, n); i++ {
				if err := each(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func appendDelivered(tx *journal.Tx, i int) error {
	if _, err := tx.Append(note("old", fmt.Sprint("old-", i))); err != nil {
		return err
	}
	t, err := tx.Claim("old", "bench", time.Minute, 0)
	if err != nil {
		return err
	}
	return tx.Deliver(t, journal.Outcome{})
}

func appendQueued(tx *journal.Tx, i int) error {
	role := readers[i%len(readers)]
	e := envelope(fmt.Sprint("queued-", i), role)
	data, err := e.JSON()
	if err != nil {
		return err
	}
	ne := note(notifyd.LaneOf(session(role)), string(e.MessageID))
	ne.Body = data
	_, err = tx.Append(ne)
	return err
}

// yearsHome is the large journal as a home; its readers are agents at a draft,
// so that what is queued stays queued.
func yearsHome(b *testing.B) config.Home {
	b.Helper()
	dir, err := years()
	check(b, err)
	l := startLab(b)
	for _, role := range readers {
		openAgent(b, l, role, "--draft", "do not touch")
	}
	return newHome(b, dir, l.Socket(), readers...)
}

func openJournal(b *testing.B, dir string) *journal.Journal {
	b.Helper()
	j, err := journal.Open(b.Context(), dir, journal.Options{})
	check(b, err)
	b.Cleanup(func() { check(b, j.Close()) })
	return j
}

// BenchmarkFlat compares a journal that holds a million delivered events with an
// empty one. The bound is 1.2 times the empty one.
func BenchmarkFlat(b *testing.B) {
	dir, err := years()
	check(b, err)
	full, empty := newWorker(b, dir, "flat"), newWorker(b, b.TempDir(), "flat")
	const slice = 20
	for b.Loop() {
		for range slice {
			empty.cycle(b)
		}
		for range slice {
			full.cycle(b)
		}
	}
	quietly(b)
	full.appends.report(b, 0.5, "ms/append")
	full.claims.report(b, 0.5, "ms/claim")
	b.ReportMetric(ratio(full.appends, empty.appends), "x-empty-append")
	b.ReportMetric(ratio(full.claims, empty.claims), "x-empty-claim")
	b.ReportMetric(ratio(full.finishes, empty.finishes), "x-empty-deliver")
}

// worker appends, claims and delivers in a lane of its own.
type worker struct {
	*journal.Journal
	lane                      journal.Lane
	prefix                    string
	n                         int
	appends, claims, finishes sample
}

func newWorker(b *testing.B, dir, name string) *worker {
	b.Helper()
	prefix := fmt.Sprint(name, "-", time.Now().UnixNano())
	return &worker{Journal: openJournal(b, dir), lane: journal.Lane(name), prefix: prefix}
}

func (w *worker) cycle(b *testing.B) {
	b.Helper()
	w.n++
	w.appends.time(func() {
		_, err := w.Append(b.Context(), note(w.lane, fmt.Sprint(w.prefix, "-", w.n)))
		check(b, err)
	})
	var t journal.Ticket
	w.claims.time(func() {
		var err error
		t, err = w.Claim(b.Context(), w.lane, "bench", time.Minute, 0)
		check(b, err)
	})
	w.finishes.time(func() { check(b, w.Deliver(b.Context(), t, journal.Outcome{})) })
}
