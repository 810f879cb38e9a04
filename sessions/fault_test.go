package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// long reports whether the long form of the fault tests was asked for; it is
// the only place that reads the variable.
func long() bool { return os.Getenv("ARKA_LONG") != "" }

func rounds(short, extended int) int {
	if long() {
		return extended
	}
	return short
}

// seeded returns a random source whose seed is printed when the test fails.
func seeded(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if v, err := strconv.ParseUint(os.Getenv("ARKA_SEED"), 10, 64); err == nil {
		seed = v
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with ARKA_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// exactlyOnce asserts the recorder's view: every text submitted once, in order,
// each in a frame of its own with one Enter that counted.
func (b *bench) exactlyOnce(session string, texts []string) {
	b.Helper()
	b.submitted(session, texts...)
	var frames []string
	for _, e := range b.entries(session) {
		if e.Kind == "paste" {
			frames = append(frames, e.Text)
		}
		if e.Kind == "answer" {
			b.Errorf("a dialog was answered: %+v", e)
		}
	}
	if strings.Join(frames, "\x00") != strings.Join(texts, "\x00") {
		b.Fatalf("%d frames for %d messages: %q", len(frames), len(texts), frames)
	}
}

// A stopped server: every call comes back at its deadline, says "unknown", and
// leaves no client behind; afterwards nothing is doubled.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	quick := b.WithDeadline(func() time.Duration { return 100 * time.Millisecond })
	server := d.Target.ServerPID
	b.signal(server, syscall.SIGSTOP)

	for name, call := range map[string]func() error{
		"Pin":      func() error { _, err := quick.Pin(ctx, "agent"); return err },
		"Sessions": func() error { _, err := quick.Sessions(ctx); return err },
		"Look":     func() error { _, err := quick.Look(ctx, d.Target, d.Profile); return err },
		"Marks":    func() error { _, err := quick.Marks(ctx, d.Target, journalID); return err },
		"Forget":   func() error { return quick.Forget(ctx, d) },
	} {
		start := time.Now()
		err := call()
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if !errors.Is(err, sessions.ErrUnavailable) || !errkind.IsUnknown(err) || errkind.Of(err) != errkind.NotNow {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, err := quick.Deliver(ctx, d)
	if err != nil || out.State != sessions.Waiting || out.Reason != sessions.ReasonTmuxUnavailable {
		t.Errorf("Deliver = %+v, %v", out, err)
	}
	if left, _ := exec.Command("pgrep", "-P", strconv.Itoa(os.Getpid()), "-f", b.Socket()).Output(); len(left) > 0 {
		t.Errorf("clients left behind: %s", left)
	}
	b.signal(server, syscall.SIGCONT)
	b.delivered(d)
	b.exactlyOnce("agent", []string{notice(1) + trailer})
}

func (b *bench) signal(pid int, sig syscall.Signal) {
	b.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		b.Fatal(err)
	}
}

// TMUX 22: a paste whose client was killed by the deadline runs when the server
// wakes. The repeat finds its mark.
func TestPasteThatRunsLate(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	calls := 0
	late := b.WithDeadline(func() time.Duration {
		if calls++; calls == 3 { // look, load, paste
			b.signal(d.Target.ServerPID, syscall.SIGSTOP)
		}
		if calls >= 3 {
			return 50 * time.Millisecond
		}
		return 2 * time.Second
	})
	out, err := late.Deliver(ctx, d)
	if err != nil || out.State != sessions.Waiting || out.Reason != sessions.ReasonTmuxUnavailable {
		t.Fatalf("Deliver = %+v, %v", out, err)
	}
	b.untouched("agent")
	b.signal(d.Target.ServerPID, syscall.SIGCONT)
	b.delivered(d)
	b.exactlyOnce("agent", []string{notice(1) + trailer})
	if left := b.tmux("list-buffers"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// Clients killed at random instants, the server stopped and woken meanwhile.
func TestKilledClients(t *testing.T) {
	t.Parallel()
	b, rnd := newBench(t), seeded(t)
	b.agent("agent", "codex", "--swallow-enter", "1")
	b.Hurry()
	killed := 0
	hasty := b.WithDeadline(func() time.Duration { return time.Duration(500+rnd.IntN(12_000)) * time.Microsecond })
	var texts []string
	for n := range rounds(12, 300) {
		d := b.delivery("agent", "codex", notice(n))
		d.Profile.Settle = time.Millisecond
		texts = append(texts, notice(n)+trailer)
		for {
			server := hasty
			if rnd.IntN(4) == 0 {
				server = b.Server
			}
			if rnd.IntN(10) == 0 {
				b.signal(d.Target.ServerPID, syscall.SIGSTOP)
				time.AfterFunc(time.Duration(rnd.IntN(30))*time.Millisecond, func() { _ = syscall.Kill(d.Target.ServerPID, syscall.SIGCONT) })
			}
			out, err := server.Deliver(context.Background(), d)
			if err != nil || out.State == sessions.Indeterminate || out.State == sessions.Blocked {
				t.Fatalf("message %d: %+v, %v", n, out, err)
			}
			if out.State == sessions.Delivered {
				break
			}
			killed++
		}
	}
	t.Logf("%d messages, %d calls cut short", len(texts), killed)
	b.exactlyOnce("agent", texts)
}

// A process of ours killed at each labelled step, and one that finishes its work.
func TestCrashAtEachStep(t *testing.T) {
	t.Parallel()
	labels := []string{"before-paste", "after-paste", "before-submit", "after-submit", "after-prove"}
	for _, profile := range []string{"codex", "generic"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.agent("agent", profile, "--profile", profile)
			var texts []string
			for i := range rounds(1, 20) * len(labels) {
				o := order{Socket: b.Socket(), Session: "agent", Profile: profile, Text: notice(i), Event: int64(i + 1), Token: int64(2*i + 1)}
				texts = append(texts, profileOf(t, profile).Frame(o.Text))
				label := labels[i%len(labels)]
				if err := child(t, o, "sessions:"+label).Run(); !killedBySignal(err) {
					t.Fatalf("%s: the child ended with %v, want SIGKILL", label, err)
				}
				o.Token++
				out, err := child(t, o, "").Output()
				if err != nil || !strings.HasPrefix(string(out), string(sessions.Delivered)) {
					t.Fatalf("%s: the second child said %q, %v", label, out, err)
				}
			}
			b.exactlyOnce("agent", texts)
		})
	}
}

func killedBySignal(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// Processes killed at random instants, and zombies: stopped, overtaken by a
// later claim, and woken to go on with what they believe.
func TestKilledAndStoppedProcesses(t *testing.T) {
	t.Parallel()
	b, rnd := newBench(t), seeded(t)
	b.agent("agent", "codex")
	var texts []string
	for i := range rounds(4, 150) {
		n := int64(i + 1)
		o := order{Socket: b.Socket(), Session: "agent", Profile: "codex", Text: notice(i), Event: n, Token: 2 * n}
		texts = append(texts, notice(i)+trailer)
		first := child(t, o, "")
		first.Stderr = nil // a zombie may say that it was fenced
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, time.Duration(rnd.IntN(300))*time.Millisecond)
		zombie := rnd.IntN(2) == 0
		if zombie {
			_ = first.Process.Signal(syscall.SIGSTOP)
		} else {
			_ = first.Process.Kill()
			_ = first.Wait()
		}
		o.Token++
		out, err := child(t, o, "").Output()
		if err != nil || !strings.HasPrefix(string(out), string(sessions.Delivered)) {
			t.Fatalf("message %d: %q, %v", i, out, err)
		}
		if zombie {
			_ = first.Process.Signal(syscall.SIGCONT)
			_ = first.Wait()
		}
	}
	b.exactlyOnce("agent", texts)
}

// wait lets a random time pass: the instant of a kill is what is being varied.
func wait(t testing.TB, d time.Duration) {
	t.Helper()
	<-time.After(d)
}

// Two journals type into one pane at the same time: neither merges with the
// other, however the looks and pastes fall.
func TestTwoWritersDoNotMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--echo-delay", "50ms")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	done := make(chan error, 2)
	for i, journal := range []string{journalID, "00c0ffee"} {
		d := b.delivery("agent", "codex", notice(i))
		d.Journal = journal
		go func() { done <- b.untilDelivered(ctx, d) }()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if got := standin.Submitted(b.entries("agent")); len(got) != 2 || got[0] == got[1] {
		t.Errorf("submitted %q", got)
	}
}

func (b *bench) untilDelivered(ctx context.Context, d sessions.Delivery) error {
	for {
		out, err := b.Deliver(ctx, d)
		switch {
		case err != nil:
			return err
		case out.State == sessions.Delivered:
			return nil
		case out.State != sessions.Waiting:
			return fmt.Errorf("%+v", out)
		}
	}
}

// Both have looked at the same empty composer; only one paste may follow.
func TestTwoLooksOnePaste(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.agent("agent", "codex", "--echo-delay", "300ms")
	one, two := b.delivery("agent", "codex", notice(1)), b.delivery("agent", "codex", notice(2))
	two.Journal = "00c0ffee"
	done, err := b.PasteAfter(ctx, two, func() {
		if done, err := b.PasteAfter(ctx, one, func() {}); !done || err != nil {
			t.Errorf("the first paste: %v, %v", done, err)
		}
	})
	if done || err != nil {
		t.Fatalf("the second paste: %v, %v", done, err)
	}
	b.want(b.deliver(two), sessions.Waiting, sessions.ReasonAgentBusy) // not drawn yet
	b.delivered(one)
	b.delivered(two)
	b.submitted("agent", notice(1)+trailer, notice(2)+trailer)
}
