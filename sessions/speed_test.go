package sessions_test

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// BenchmarkDeliver puts a proven delivery beside a bare load-buffer, paste-buffer
// and send-keys with the same settle, in one run; the ratio is what counts (the
// bound is 2).
func BenchmarkDeliver(b *testing.B) {
	l := newBench(b)
	l.agent("agent", "codex")
	l.agent("bare", "codex")
	pane := l.pin("bare").PaneID
	settle := profileOf(b, "codex").Settle
	var proven, bare time.Duration
	n := 0
	for b.Loop() {
		n++
		d := l.delivery("agent", "codex", notice(n))
		start := time.Now()
		l.delivered(d)
		proven += time.Since(start)
		if err := l.Forget(context.Background(), d); err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		l.bare(pane, notice(n)+trailer, settle, n)
		bare += time.Since(start)
	}
	b.ReportMetric(float64(proven.Microseconds())/float64(n)/1000, "ms/delivery")
	b.ReportMetric(float64(bare.Microseconds())/float64(n)/1000, "ms/bare")
	b.ReportMetric(float64(proven)/float64(bare), "ratio")
}

// bare is what a script would do; it ends when the text was submitted.
func (b *bench) bare(pane, text string, settle time.Duration, n int) {
	b.Helper()
	load := exec.Command("tmux", "-S", b.Socket(), "load-buffer", "-b", "x", "-")
	load.Stdin = strings.NewReader(text)
	if err := load.Run(); err != nil {
		b.Fatal(err)
	}
	b.tmux("paste-buffer", "-p", "-r", "-d", "-b", "x", "-t", pane)
	<-time.After(settle)
	b.tmux("send-keys", "-t", pane, "Enter")
	eventually(b, "submitted", func() bool { return len(standin.Submitted(b.entries("bare"))) == n })
}

// BenchmarkPin is a lookup among many sessions.
func BenchmarkPin(b *testing.B) {
	l := newBench(b)
	l.agent("agent", "codex")
	for n := range 50 {
		l.tmux("new-session", "-d", "-s", "s"+strconv.Itoa(n), "--", "sleep", "1000")
	}
	for b.Loop() {
		if _, err := l.Pin(context.Background(), sessions.Name("s49")); err != nil {
			b.Fatal(err)
		}
	}
}
