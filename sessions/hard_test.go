package sessions_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/lab"
	"arkamsg/sessions"
)

// Enters of ours that are swallowed are repeated, in one call or in several,
// and the text is typed once.
func TestSwallowedEnter(t *testing.T) {
	t.Parallel()
	for _, k := range []int{1, 3, 6} {
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Hurry()
			b.agent("agent", "codex", "--swallow-enter", strconv.Itoa(k))
			d := b.delivery("agent", "codex", notice(1))
			calls := 0
			eventually(t, "it is submitted", func() bool {
				calls++
				out := b.deliver(d)
				if out.State == sessions.NotSubmitted && !strings.Contains(out.Evidence, "NOTIFICATION") {
					t.Errorf("no evidence: %+v", out)
				}
				return out.State == sessions.Delivered
			})
			if k == 6 && calls < 2 {
				t.Errorf("%d swallowed Enters took %d call; four are the bound", k, calls)
			}
			b.submitted("agent", notice(1)+trailer)
		})
	}
}

// Codex takes an Enter soon after a burst for a part of the paste.
func TestBurstWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--burst", "120ms")
	for n := range 3 {
		b.delivered(b.delivery("agent", "codex", notice(n)))
	}
	for _, e := range b.entries("agent") {
		if e.Kind == "enter" {
			t.Errorf("an Enter came too early: %+v", e)
		}
	}
	b.submitted("agent", notice(0)+trailer, notice(1)+trailer, notice(2)+trailer)
}

// The worst accident on record: an Enter that answers a dialog.
func TestDialogOpensAfterThePaste(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--dialog-file", b.Dir()+"/dialog", "--dialog-after-paste")
	d := b.delivery("agent", "codex", notice(1))
	out := b.deliver(d)
	b.want(out, sessions.Waiting, sessions.ReasonDialogOpen)
	if !out.Typed {
		t.Error("the outcome does not say that the text was typed")
	}
	b.want(b.deliver(d), sessions.Waiting, sessions.ReasonDialogOpen)
	b.remove("dialog")
	b.seesNot("agent", "1. Yes")
	b.delivered(d)
	b.submitted("agent", notice(1)+trailer)
	for _, e := range b.entries("agent") {
		if e.Kind == "answer" {
			t.Errorf("the dialog got %+v", e)
		}
	}
}

// A person who types beside our text is not merged with it.
func TestHumanTypesAfterThePaste(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"codex", "claude", "gemini"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Hurry()
			b.agent("agent", profile, "--profile", profile)
			d := b.delivery("agent", profile, notice(1))
			b.pasted(d)
			b.human("agent", "xyz")
			b.want(b.deliver(d), sessions.Waiting, sessions.ReasonHumanDraft)
			b.submitted("agent")
			for range 3 {
				b.press("agent", "BSpace")
			}
			b.seesNot("agent", "xyz")
			b.delivered(d)
			b.submitted("agent", d.Profile.Frame(notice(1)))
		})
	}
}

// The person submits our text by hand: the turn is the proof.
func TestHumanSubmitsOurText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Hurry()
	b.agent("agent", "codex", "--busy", "20s")
	d := b.delivery("agent", "codex", notice(1))
	b.pasted(d)
	b.press("agent", "Enter")
	b.sees("agent", "esc to")
	b.delivered(d)
	b.submitted("agent", notice(1)+trailer)
}

// The person deletes our text: not typed again by itself. Forgetting the mark is
// the person's word that it did not arrive.
func TestHumanDeletesOurText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Hurry()
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	b.pasted(d)
	b.press("agent", "C-u")
	b.seesNot("agent", "NOTIFICATION")
	for range 2 {
		out := b.settled(d)
		b.want(out, sessions.Indeterminate, sessions.ReasonIndeterminate)
		if !strings.Contains(out.Evidence, "›") {
			t.Errorf("evidence %q", out.Evidence)
		}
	}
	b.submitted("agent")
	if err := b.Forget(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	d.Token++
	b.delivered(d)
	b.submitted("agent", notice(1)+trailer)
}

// Text that never shows is never submitted.
func TestNeverEchoed(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"codex", "generic"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Hurry()
			b.agent("agent", profile, "--profile", profile, "--mute")
			b.want(b.settled(b.delivery("agent", profile, notice(1))), sessions.Indeterminate, sessions.ReasonIndeterminate)
			b.submitted("agent")
		})
	}
}

// A program that hangs after the paste gets its Enter when it wakes, from
// whichever call comes then: giving up earlier would leave our text behind.
func TestHungAfterPaste(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--echo-delay", "3s")
	d := b.delivery("agent", "codex", notice(1))
	b.want(b.deliver(d), sessions.Waiting, sessions.ReasonUnknownScreen)
	b.want(b.settled(d), sessions.Delivered, "")
	b.submitted("agent", notice(1)+trailer)
}

func TestSlowEcho(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--echo-delay", "400ms")
	b.delivered(b.delivery("agent", "codex", notice(1)))
	b.submitted("agent", notice(1)+trailer)
}

// However the composer wraps it, it is our text.
func TestReflow(t *testing.T) {
	t.Parallel()
	for _, width := range []string{"20", "37"} {
		b := newBench(t)
		b.agent("agent", "claude", "--profile", "claude", "--width", width)
		b.delivered(b.delivery("agent", "claude", notice(1)))
		b.submitted("agent", notice(1))
	}
}

// A composer too small for the text shows its end only; a person's words after
// it would show too.
func TestComposerThatScrolls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Hurry()
	b.agent("agent", "codex", "--placeholder", "0")
	text := strings.Repeat("all work and no play, ", 150)
	b.delivered(b.delivery("agent", "codex", text))
	b.submitted("agent", text+trailer)
}

// A cursor that never rests makes each Enter refused: the call ends all the
// same, and says what it waits for.
func TestRestlessScreen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--fidget")
	d := b.delivery("agent", "codex", notice(1))
	d.Profile.Settle = time.Millisecond
	refused := 0
	restless := sessions.Connect(sessions.ServerOptions{SocketPath: b.Socket(), Record: func(verbs []string) {
		if slices.Contains(verbs, "send-keys") {
			refused++
			b.fidget(d.Target)
		}
	}})
	out, err := restless.Deliver(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	b.want(out, sessions.Waiting, sessions.ReasonAgentBusy)
	if !out.Typed || refused < 3 {
		t.Errorf("%d Enters were refused; %+v", refused, out)
	}
	b.submitted("agent")
}

// fidget moves the cursor between a look and a deed.
func (b *bench) fidget(t sessions.Target) {
	b.Helper()
	at := func() string { return b.tmux("display-message", "-p", "-t", t.PaneID, "#{cursor_x}") }
	before := at()
	b.signal(t.PanePID, syscall.SIGUSR1)
	eventually(b, "the cursor moved", func() bool { return at() != before })
}

// The agent ends between paste and Enter: typed, so not "blocked"; and not sent
// again by itself.
func TestAgentDiesAfterThePaste(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("keep", "codex")
	b.tmux("set-option", "-g", "remain-on-exit", "on")
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	b.pasted(d)
	b.kill(d)
	b.want(b.deliver(d), sessions.Indeterminate, sessions.ReasonIndeterminate)
}

// The pane goes away with our text in it: the one who typed says so.
func TestPaneGoesAfterThePaste(t *testing.T) {
	t.Parallel()
	for _, kill := range []string{"kill-session", "kill-server"} {
		b := newBench(t)
		b.agent("agent", "codex")
		b.agent("keep", "codex")
		d := b.delivery("agent", "codex", notice(1))
		once := sync.OnceFunc(func() {
			b.tmux(append([]string{kill}, map[string][]string{"kill-session": {"-t", "=agent:"}}[kill]...)...)
		})
		s := sessions.Connect(sessions.ServerOptions{SocketPath: b.Socket(), Record: func(verbs []string) {
			if slices.Contains(verbs, "send-keys") {
				once()
			}
		}})
		out, err := s.Deliver(context.Background(), d)
		for err == nil && out.State == sessions.Waiting && out.Typed { // a server that is just leaving
			out, err = s.Deliver(context.Background(), d)
		}
		if err != nil || !out.Typed && out.Reason != sessions.ReasonMissingSession || out.State == sessions.Delivered {
			t.Errorf("%s: %+v, %v", kill, out, err)
		}
		if kill == "kill-session" {
			b.want(out, sessions.Indeterminate, sessions.ReasonIndeterminate)
		}
	}
}

// TMUX 14: a terminal in line mode drops what exceeds 4,096 bytes of a row. What
// did not show at its end was not submitted.
func TestLongRowInLineMode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Hurry()
	if err := b.Open(lab.Pane{Session: "cat", Argv: []string{"cat"}}); err != nil {
		t.Fatal(err)
	}
	b.delivered(b.delivery("cat", "generic", "short"))
	out := b.deliver(b.delivery("cat", "generic", strings.Repeat("x", 5000)+" the end of it"))
	b.want(out, sessions.Indeterminate, sessions.ReasonIndeterminate)
}

func TestTranscriptProof(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Hurry()
	b.agent("agent", "codex", "--on-submit", "cat >"+b.Dir()+"/session-1.jsonl")
	profile := profileOf(t, "codex")
	profile.Proof, profile.Transcript = sessions.ProofTranscript, b.Dir()+"/session-*.jsonl"
	d := b.delivery("agent", "codex", notice(1))
	d.Profile = profile
	b.delivered(d)

	b.agent("silent", "codex")
	d = b.delivery("silent", "codex", notice(2))
	d.Profile = profile
	b.want(b.deliver(d), sessions.Indeterminate, sessions.ReasonIndeterminate)
	b.submitted("silent", notice(2)+trailer)
	if err := os.WriteFile(b.Dir()+"/session-2.jsonl", []byte(`{"text":"`+notice(2)+`\n\"\""}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.delivered(d) // a retry finds the proof and types nothing
	b.submitted("silent", notice(2)+trailer)
}
