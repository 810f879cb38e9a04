package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"maragu.dev/goqite"

	"arkamsg/journal"
)

var body = fmt.Appendf(nil, `{"type":"notify","v":1,"text":%q}`, strings.Repeat("x", 200))

// A cycle appends one message, claims one and finishes it.
type cycle func(ctx context.Context, worker, n int) error

func BenchmarkCycle1(b *testing.B)  { compare(b, 1) }
func BenchmarkCycle16(b *testing.B) { compare(b, 16) }

// compare lets the contenders take turns and reports messages per second and
// by how much we are faster than each of them, by the median of their turns.
func compare(b *testing.B, workers int) {
	names := []string{"arkamsg", "goqite", "nats"}
	cycles := []cycle{ours(b), sqliteQueue(b), jetStream(b, workers)}
	spent := make([]sample, len(cycles))
	const slice = 25
	turns := 0
	for b.Loop() {
		for i, c := range cycles {
			spent[i].time(func() { work(b, c, workers, slice, turns) })
		}
		turns++
	}
	quietly(b)
	for i, name := range names {
		b.ReportMetric(float64(slice*workers)/spent[i].at(0.5).Seconds(), name+"/s")
		if i > 0 {
			b.ReportMetric(ratio(spent[i], spent[0]), "x-"+name)
		}
	}
}

func work(b *testing.B, c cycle, workers, slice, turn int) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range slice {
				if err := c(b.Context(), w, turn*slice+i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func ours(b *testing.B) cycle {
	j, err := journal.Open(b.Context(), b.TempDir(), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	lease, err := j.Lead(b.Context(), journal.Candidate{Host: "bench", LockID: "1"}, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	return func(ctx context.Context, worker, n int) error {
		lane := journal.Lane(fmt.Sprint("lane-", worker))
		id := journal.MessageID(fmt.Sprintf("m-%d-%d", worker, n))
		if _, err := j.Append(ctx, journal.NewEvent{MessageID: id, Kind: journal.KindNotify, Lane: lane, Body: body}); err != nil {
			return err
		}
		t, err := j.Claim(ctx, lane, lease.Holder, time.Minute, lease.Term)
		if err != nil {
			return err
		}
		return j.Deliver(ctx, t, journal.Outcome{})
	}
}

func sqliteQueue(b *testing.B) cycle {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.TempDir(), "q.db")+
		"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = db.Close() })
	if err := goqite.Setup(b.Context(), db); err != nil {
		b.Fatal(err)
	}
	q := goqite.New(goqite.NewOpts{DB: db, Name: "bench", Timeout: time.Minute})
	return func(ctx context.Context, _, _ int) error {
		if err := q.Send(ctx, goqite.Message{Body: body}); err != nil {
			return err
		}
		m, err := q.Receive(ctx)
		if err != nil || m == nil {
			return fmt.Errorf("receive: %v %w", m, err)
		}
		return q.Delete(ctx, m.ID)
	}
}

func jetStream(b *testing.B, workers int) cycle {
	s, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, StoreDir: b.TempDir(), SyncAlways: true, NoSigs: true, NoLog: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		b.Fatal("nats did not start")
	}
	b.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		b.Fatal(err)
	}
	stream, err := js.CreateStream(b.Context(), jetstream.StreamConfig{
		Name: "work", Subjects: []string{"lane.*"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
	})
	if err != nil {
		b.Fatal(err)
	}
	consumers := make([]jetstream.Consumer, workers)
	for w := range workers {
		consumers[w], err = stream.CreateConsumer(b.Context(), jetstream.ConsumerConfig{
			Durable: fmt.Sprint("w", w), FilterSubject: fmt.Sprint("lane.", w), AckPolicy: jetstream.AckExplicitPolicy,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return func(ctx context.Context, worker, n int) error {
		id := fmt.Sprintf("m-%d-%d", worker, n)
		if _, err := js.Publish(ctx, fmt.Sprint("lane.", worker), body, jetstream.WithMsgID(id)); err != nil {
			return err
		}
		m, err := consumers[worker].Next(jetstream.FetchMaxWait(10 * time.Second))
		if err != nil {
			return err
		}
		return m.DoubleAck(ctx)
	}
}
