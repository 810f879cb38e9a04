package journal

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The baseline of all ratios: what a bare loop with one prepared INSERT reaches
// on the same disk, driver and durability.

func openBare(b *testing.B) (*sql.DB, *sql.Stmt) {
	b.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE event(id INTEGER PRIMARY KEY, message_id TEXT UNIQUE, kind TEXT, lane TEXT, body BLOB, at INTEGER)`); err != nil {
		b.Fatal(err)
	}
	stmt, err := db.Prepare(`INSERT INTO event(message_id, kind, lane, body, at) VALUES(?,?,?,?,?)`)
	if err != nil {
		b.Fatal(err)
	}
	return db, stmt
}

var benchBody = fmt.Appendf(nil, `{"type":"notify","v":1,"message_id":"x","text":%q}`, strings.Repeat("x", 200))

func bareInsert(b *testing.B, stmt *sql.Stmt, n int) {
	if _, err := stmt.Exec(fmt.Sprint("m", n), "notify", "lane", benchBody, n); err != nil {
		b.Fatal(err)
	}
}

func openBench(b *testing.B) *Journal {
	b.Helper()
	j, err := Open(b.Context(), b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	return j
}

func benchNote(n int64) NewEvent {
	return NewEvent{MessageID: MessageID(fmt.Sprint("m", n)), Kind: KindNotify, Lane: "lane", Body: benchBody}
}

// interleave times a and b in alternating slices, so that a noisy disk hits
// both, and reports how many times as fast as b a is.
func interleave(b *testing.B, slice int, a, base func(n int)) {
	var ta, tb time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		for i := range slice {
			a(n + i)
		}
		ta += time.Since(start)
		start = time.Now()
		for i := range slice {
			base(n + i)
		}
		tb += time.Since(start)
		n += slice
	}
	b.ReportMetric(float64(ta.Microseconds())/float64(n), "µs/append")
	b.ReportMetric(float64(tb.Microseconds())/float64(n), "µs/bare")
	b.ReportMetric(float64(tb)/float64(ta), "x-bare")
}

func BenchmarkAppendSingle(b *testing.B) {
	j := openBench(b)
	_, stmt := openBare(b)
	interleave(b, 50,
		func(n int) { benchAppend(b, j, int64(n)) },
		func(n int) { bareInsert(b, stmt, n) })
}

func benchAppend(b *testing.B, j *Journal, n int64) {
	if _, err := j.Append(context.Background(), benchNote(n)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAppend16(b *testing.B) {
	const callers = 16
	j := openBench(b)
	_, stmt := openBare(b)
	var id atomic.Int64
	var ta, tb time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		done := make(chan struct{}, callers)
		for range callers {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 25 {
					benchAppend(b, j, id.Add(1))
				}
			}()
		}
		for range callers {
			<-done
		}
		ta += time.Since(start)
		start = time.Now()
		for i := range callers * 25 {
			bareInsert(b, stmt, n+i)
		}
		tb += time.Since(start)
		n += callers * 25
	}
	b.ReportMetric(float64(ta.Microseconds())/float64(n), "µs/append")
	b.ReportMetric(float64(tb.Microseconds())/float64(n), "µs/bare")
	b.ReportMetric(float64(tb)/float64(ta), "x-bare")
}

// BenchmarkCycle is append, claim, deliver, each durable by itself.
func BenchmarkCycle(b *testing.B) {
	j := openBench(b)
	n := int64(0)
	for b.Loop() {
		n++
		benchAppend(b, j, n)
		claimDeliver(b, j, "lane")
	}
}

func claimDeliver(b *testing.B, j *Journal, lane Lane) {
	t, err := j.Claim(context.Background(), lane, "h", time.Minute, 0)
	if err == nil {
		err = j.Deliver(context.Background(), t, Outcome{})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// fillDelivered appends and delivers n events in large transactions.
func fillDelivered(tb testing.TB, j *Journal, n int) {
	tb.Helper()
	inChunks(tb, j, n, func(tx *Tx, i int) error {
		if _, err := tx.Append(NewEvent{MessageID: MessageID(fmt.Sprint("old", i)), Kind: KindNotify, Lane: "old", Body: benchBody}); err != nil {
			return err
		}
		t, err := tx.Claim("old", "h", time.Minute, 0)
		if err != nil {
			return err
		}
		return tx.Deliver(t, Outcome{})
	})
}

func inChunks(tb testing.TB, j *Journal, n int, each func(*Tx, int) error) {
	tb.Helper()
	for done := 0; done < n; done += 5000 {
		err := j.Update(context.Background(), func(tx *Tx) error {
			for i := done; i < min(done+5000, n); i++ {
				if err := each(tx, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}
