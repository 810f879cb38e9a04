package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"arkamsg/internal/watch"
	"arkamsg/journal"
)

// BenchmarkWake appends in this process and has another one claim, as push and
// daemon do. Its p99 from the ring to the moment at which the other process
// runs is bounded by 5 ms; beside it a byte through a pipe, which is as fast as
// this machine wakes anybody.
func BenchmarkWake(b *testing.B) {
	home := b.TempDir()
	var rung time.Time
	j, err := journal.Open(b.Context(), home, journal.Options{OnAppend: func() {
		rung = time.Now()
		check(b, watch.Ring(bellOf(home)))
	}})
	check(b, err)
	b.Cleanup(func() { check(b, j.Close()) })
	s := startSleeper(b, home)
	var w wakes
	for b.Loop() {
		for range 20 {
			w.append(b, j, s, &rung)
			w.pipe(b, s)
		}
	}
	quietly(b)
	for name, got := range map[string]sample{"": w.heard, "-claimed": w.claimed, "-pipe": w.piped} {
		got.report(b, 0.5, "ms-p50"+name)
		got.report(b, 0.99, "ms-p99"+name)
	}
}

// wakes are the waits until the other process ran, until its claim was durable,
// and until a byte had come through the pipe.
type wakes struct{ heard, claimed, piped sample }

func (w *wakes) append(b *testing.B, j *journal.Journal, s sleeper, rung *time.Time) {
	b.Helper()
	_, err := j.Append(b.Context(), note("lane", fmt.Sprint("m", len(w.heard))))
	check(b, err)
	heard, claimed := s.answer(b)
	w.heard, w.claimed = append(w.heard, heard.Sub(*rung)), append(w.claimed, claimed.Sub(*rung))
}

func (w *wakes) pipe(b *testing.B, s sleeper) {
	b.Helper()
	start := time.Now()
	_, err := fmt.Fprintln(s.in, "pipe")
	check(b, err)
	heard, _ := s.answer(b)
	w.piped = append(w.piped, heard.Sub(start))
}

func bellOf(home string) string { return filepath.Join(home, "bell") }

// sleeper is the process that waits for the bell.
type sleeper struct {
	in  *os.File
	out *bufio.Scanner
}

func startSleeper(b *testing.B, home string) sleeper {
	b.Helper()
	self, err := os.Executable()
	check(b, err)
	cmd := exec.Command(self, "sleeper", home)
	r, w, err := os.Pipe()
	check(b, err)
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	out, err := cmd.StdoutPipe()
	check(b, err)
	check(b, cmd.Start())
	check(b, r.Close())
	b.Cleanup(func() {
		_ = w.Close() // it leaves when its input ends
		check(b, cmd.Wait())
	})
	s := sleeper{w, bufio.NewScanner(out)}
	if !s.out.Scan() {
		b.Fatal("the sleeping process did not start")
	}
	return s
}

// answer is when the process was awake and when its claim was durable.
func (s sleeper) answer(b *testing.B) (awake, claimed time.Time) {
	b.Helper()
	var a, c int64
	if !s.out.Scan() {
		b.Fatal("the sleeping process is gone")
	}
	_, err := fmt.Sscan(s.out.Text(), &a, &c)
	check(b, err)
	return time.Unix(0, a), time.Unix(0, c)
}

// sleeperMain does what the daemon does when the bell rings.
func sleeperMain(home string) int {
	if err := sleepAndClaim(context.Background(), home); err != nil {
		fmt.Fprintln(os.Stderr, "sleeper:", err)
		return 1
	}
	return 0
}

func sleepAndClaim(ctx context.Context, home string) error {
	j, err := journal.Open(ctx, home, journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	lease, err := j.Lead(ctx, journal.Candidate{Host: "bench", LockID: "1"}, time.Hour)
	if err != nil {
		return err
	}
	rings, err := watch.Bell(ctx, bellOf(home))
	if err != nil {
		return err
	}
	lines := readLines(os.Stdin)
	fmt.Println("ready")
	for {
		select {
		case <-rings:
			if err := claimOne(ctx, j, lease); err != nil {
				return err
			}
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			fmt.Println(line, line)
		}
	}
}

// claimOne answers a ring. One append may be heard twice: the second finds
// nothing and says nothing.
func claimOne(ctx context.Context, j *journal.Journal, lease journal.Lease) error {
	awake := time.Now()
	lanes, _, err := j.ReadyLanes(ctx, journal.KindNotify)
	if err != nil || len(lanes) == 0 {
		return err
	}
	t, err := j.Claim(ctx, lanes[0], lease.Holder, time.Minute, lease.Term)
	if err != nil {
		return err
	}
	fmt.Println(awake.UnixNano(), time.Now().UnixNano())
	return j.Deliver(ctx, t, journal.Outcome{})
}

// readLines gives each line the time at which it was read.
func readLines(f *os.File) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(f)
		for in.Scan() {
			lines <- strconv.FormatInt(time.Now().UnixNano(), 10)
		}
	}()
	return lines
}

func note(lane journal.Lane, id string) journal.NewEvent {
	return journal.NewEvent{MessageID: journal.MessageID(id), Kind: journal.KindNotify, Lane: lane, Body: body}
}
