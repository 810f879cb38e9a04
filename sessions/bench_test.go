package sessions_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/lab"
	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// bench is one private tmux server and what a test does with it.
type bench struct {
	testing.TB
	*lab.Lab
	*sessions.Server
	events atomic.Int64
}

const journalID = "0badcafe"

func newBench(t testing.TB) *bench {
	t.Helper()
	l, err := lab.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("the lab left something behind: %v", err)
		}
	})
	return &bench{TB: t, Lab: l, Server: sessions.Connect(sessions.ServerOptions{SocketPath: l.Socket(), Record: record, Timeout: 15 * time.Second})}
}

// agent opens a session in which the stand-in runs under the program's name.
func (b *bench) agent(session, program string, flags ...string) {
	b.Helper()
	if err := b.Open(lab.Pane{Session: session, Argv: b.argv(session, program, flags...)}); err != nil {
		b.Fatal(err)
	}
	b.started(session)
	if !slices.Contains(flags, "generic") {
		eventually(b, "the agent has drawn", func() bool { s, err := b.Screen(session); return err == nil && strings.TrimSpace(s) != "" })
	}
}

// started waits for the stand-in that keeps the log.
func (b *bench) started(log string) {
	b.Helper()
	eventually(b, "the agent has started", func() bool {
		entries, _ := standin.ReadLog(b.log(log))
		return len(entries) > 0
	})
}

func (b *bench) argv(session, program string, flags ...string) []string {
	b.Helper()
	path, err := b.Program(program)
	if err != nil {
		b.Fatal(err)
	}
	return append([]string{path, "standin", "--log", b.log(session)}, flags...)
}

func (b *bench) log(session string) string { return filepath.Join(b.Dir(), session+".log") }

func (b *bench) tmux(args ...string) string {
	b.Helper()
	out, err := b.Tmux(args...)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func (b *bench) pin(session string) sessions.Target {
	b.Helper()
	t, err := b.Pin(context.Background(), sessions.Name(session))
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// delivery makes a new message for the session.
func (b *bench) delivery(session, profile, text string) sessions.Delivery {
	b.Helper()
	n := b.events.Add(1)
	return sessions.Delivery{Target: b.pin(session), Profile: profileOf(b, profile), Journal: journalID, Event: n, Token: n, Text: text}
}

func profileOf(t testing.TB, name string) sessions.Profile {
	t.Helper()
	all, err := sessions.Profiles(nil)
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

func (b *bench) deliver(d sessions.Delivery) sessions.Outcome {
	b.Helper()
	out, err := b.Deliver(context.Background(), d)
	if err != nil {
		b.Fatalf("Deliver: %v", err)
	}
	return out
}

// settled delivers again and again, as the daemon does, until there is an outcome.
func (b *bench) settled(d sessions.Delivery) sessions.Outcome {
	b.Helper()
	end, again := time.After(20*time.Second), time.Tick(10*time.Millisecond)
	for {
		out := b.deliver(d)
		if out.State != sessions.Waiting && out.State != sessions.NotSubmitted {
			return out
		}
		select {
		case <-end:
			b.Fatalf("still waiting: %+v", out)
		case <-again:
		}
	}
}

func (b *bench) want(out sessions.Outcome, s sessions.State, r sessions.Reason) {
	b.Helper()
	if out.State != s || out.Reason != r {
		b.Fatalf("outcome %s %q (%s), want %s %q\n%s", out.State, out.Reason, out.Detail, s, r, out.Evidence)
	}
}

func (b *bench) delivered(d sessions.Delivery) {
	b.Helper()
	b.want(b.deliver(d), sessions.Delivered, "")
}

func (b *bench) entries(session string) []standin.Entry {
	b.Helper()
	log, err := standin.ReadLog(b.log(session))
	if err != nil {
		b.Fatal(err)
	}
	return log
}

// submitted asserts what the agent got, in order, and nothing else.
func (b *bench) submitted(session string, want ...string) {
	b.Helper()
	got := standin.Submitted(b.entries(session))
	if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		b.Fatalf("%s got %q, want %q", session, got, want)
	}
}

// untouched asserts that not one byte arrived.
func (b *bench) untouched(session string) {
	b.Helper()
	if raw := standin.RawBytes(b.entries(session)); len(raw) > 0 {
		b.Fatalf("%s received %q", session, raw)
	}
}

// notice is a notification as the daemon writes it.
func notice(n int) string {
	return "NOTIFICATION: [Notification-Auto] @PMO — Message reçu de @LD : ptr:msg:M" + strconv.Itoa(n) + " — [Message-READ]"
}

const trailer = "\n\"\""

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

// human types as a person at the keyboard does, and waits until it arrived.
func (b *bench) human(session, keys string) {
	b.Helper()
	before := len(standin.RawBytes(b.entries(session)))
	b.tmux("send-keys", "-t", "="+session+":", "-l", "--", keys)
	eventually(b, "the person's keys arrived", func() bool { return len(standin.RawBytes(b.entries(session))) > before })
	b.sees(session, keys)
}

func (b *bench) press(session, key string) {
	b.Helper()
	before := len(standin.RawBytes(b.entries(session)))
	b.tmux("send-keys", "-t", "="+session+":", key)
	eventually(b, "the key arrived", func() bool { return len(standin.RawBytes(b.entries(session))) > before })
}

func (b *bench) sees(session, what string) {
	b.Helper()
	eventually(b, "the screen shows "+what, func() bool {
		s, err := b.Screen(session)
		return err == nil && strings.Contains(s, what)
	})
}

// seesNot waits until the screen no longer shows it.
func (b *bench) seesNot(session, what string) {
	b.Helper()
	eventually(b, "the screen no longer shows "+what, func() bool {
		s, err := b.Screen(session)
		return err == nil && !strings.Contains(s, what)
	})
}

func (b *bench) touch(name string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.Dir(), name), nil, 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.Helper()
	if err := os.Remove(filepath.Join(b.Dir(), name)); err != nil {
		b.Fatal(err)
	}
}

// kill ends the pane's program and waits until tmux has noticed.
func (b *bench) kill(d sessions.Delivery) {
	b.Helper()
	if err := syscall.Kill(d.Target.PanePID, syscall.SIGKILL); err != nil {
		b.Fatal(err)
	}
	eventually(b, "the pane is dead", func() bool { return b.tmux("display-message", "-p", "-t", d.Target.PaneID, "#{pane_dead}") == "1" })
}

// pasted brings the message to the step before the Enter.
func (b *bench) pasted(d sessions.Delivery) {
	b.Helper()
	if done, err := b.PasteAfter(context.Background(), d, func() {}); !done || err != nil {
		b.Fatalf("paste: %v, %v", done, err)
	}
	b.sees(string(d.Target.Name), "NOTIFICATION")
}
