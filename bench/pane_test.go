package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/lab"
	"arkamsg/internal/standin"
	"arkamsg/messaging"
)

// BenchmarkPane is the time from an append to the moment at which the agent in
// an idle pane has the line, by a daemon that runs for real, beside a script
// that pastes, waits as long as the profile says and presses Enter, knowing
// nothing. The bound is 2 times the script.
func BenchmarkPane(b *testing.B) {
	l := startLab(b)
	openAgent(b, l, "PMO")
	openAgent(b, l, "Bare")
	home := newHome(b, filepath.Join(l.Dir(), "home"), l.Socket(), "PMO")
	room := openRoom(b, home)
	startDaemon(b, home)
	var seen, submitted, bareSeen, bare sample
	n := 0
	for b.Loop() {
		n++
		id := fmt.Sprint("m-", n)
		start := time.Now()
		results, err := room.SendEnvelopes(b.Context(), []messaging.Envelope{envelope(id, "PMO")}, false)
		check(b, err)
		check(b, results[0].Err)
		at := awaitAgent(b, l, "PMO", id)
		seen, submitted = append(seen, at["paste"].Sub(start)), append(submitted, at["submit"].Sub(start))

		start = time.Now()
		pasteBare(b, l, fmt.Sprintf("NOTIFICATION: [Notification-Auto] ptr:msg:%s\n\"\"", id))
		at = awaitAgent(b, l, "Bare", id)
		bareSeen, bare = append(bareSeen, at["paste"].Sub(start)), append(bare, at["submit"].Sub(start))
	}
	quietly(b)
	seen.report(b, 0.5, "ms-visible")
	submitted.report(b, 0.5, "ms-submitted")
	bareSeen.report(b, 0.5, "ms-bare-visible")
	bare.report(b, 0.5, "ms-bare-submitted")
	b.ReportMetric(float64(seen.at(0.5))/float64(bareSeen.at(0.5)+settle), "x-bare-visible")
	b.ReportMetric(ratio(submitted, bare), "x-bare-submitted")
}

// settle is that of the codex profile.
const settle = 150 * time.Millisecond

func startLab(b *testing.B) *lab.Lab {
	b.Helper()
	l, err := lab.Start()
	check(b, err)
	b.Cleanup(func() { check(b, l.Close()) })
	return l
}

func agentLog(l *lab.Lab, role string) string { return filepath.Join(l.Dir(), "log-"+role) }

func openAgent(b *testing.B, l *lab.Lab, role string, habits ...string) {
	b.Helper()
	codex, err := l.Program("codex")
	check(b, err)
	argv := append([]string{codex, "standin", "--log", agentLog(l, role)}, habits...)
	check(b, l.Open(lab.Pane{Session: session(role), Argv: argv}))
	within(b, time.Minute, "the agent has started", func() bool {
		screen, err := l.Screen(session(role))
		return err == nil && strings.TrimSpace(screen) != ""
	})
}

// pasteBare is what a script would do.
func pasteBare(b *testing.B, l *lab.Lab, text string) {
	b.Helper()
	pane := "=" + session("Bare") + ":"
	load := exec.Command("tmux", "-S", l.Socket(), "load-buffer", "-b", "bare", "-")
	load.Stdin = strings.NewReader(text)
	check(b, load.Run())
	_, err := l.Tmux("paste-buffer", "-p", "-r", "-d", "-b", "bare", "-t", pane)
	check(b, err)
	<-time.After(settle)
	_, err = l.Tmux("send-keys", "-t", pane, "Enter")
	check(b, err)
}

// awaitAgent is when the agent got the text with the id, by kind of record.
func awaitAgent(b *testing.B, l *lab.Lab, role, id string) map[string]time.Time {
	b.Helper()
	at := map[string]time.Time{}
	within(b, time.Minute, id+" was submitted", func() bool {
		entries, err := standin.ReadLog(agentLog(l, role))
		check(b, err)
		for _, e := range entries {
			if strings.Contains(e.Text+"\n", "ptr:msg:"+id+" ") || strings.Contains(e.Text+"\n", "ptr:msg:"+id+"\n") {
				at[e.Kind] = e.At
			}
		}
		return !at["submit"].IsZero()
	})
	return at
}

// daemon is a real one; it ends with the benchmark.
type daemon struct {
	cmd   *exec.Cmd
	start time.Duration // until it said that it is ready
}

func startDaemon(b *testing.B, home config.Home) *daemon {
	b.Helper()
	d := &daemon{cmd: exec.Command(program(b), "--home", string(home), "daemon")}
	r, w, err := os.Pipe()
	check(b, err)
	d.cmd.Stderr = w
	start := time.Now()
	check(b, d.cmd.Start())
	check(b, w.Close())
	b.Cleanup(d.stop)
	said, ready := make([]byte, 0, 1<<16), false
	for chunk := make([]byte, 4096); !ready; ready = bytes.Contains(said, []byte("ready\n")) {
		n, err := r.Read(chunk)
		if err != nil {
			b.Fatalf("the daemon did not start:\n%s", said)
		}
		said = append(said, chunk[:n]...)
	}
	d.start = time.Since(start)
	go func() { _, _ = new(bytes.Buffer).ReadFrom(r) }() // what it says later is not needed
	return d
}

func (d *daemon) stop() {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	}
}

func within(b *testing.B, patience time.Duration, what string, ok func() bool) {
	b.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			b.Fatalf("not in time: %s", what)
		}
	}
}
