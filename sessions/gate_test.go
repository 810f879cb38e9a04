package sessions_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/lab"
	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// Each closed gate: nothing arrives while it is closed, Look says the same, and
// the message is delivered once it opens.
func TestGateWaits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		flags       []string
		shut, open  func(b *bench, pane string)
		reason      sessions.Reason
		alsoArrives string // what the person typed
	}{
		{name: "copy-mode", reason: sessions.ReasonPaneInMode,
			shut: func(b *bench, p string) { b.tmux("copy-mode", "-t", p) },
			open: func(b *bench, p string) { b.tmux("send-keys", "-t", p, "-X", "cancel") }},
		{name: "clock", reason: sessions.ReasonPaneInMode,
			shut: func(b *bench, p string) { b.tmux("clock-mode", "-t", p) },
			open: func(b *bench, p string) { b.tmux("copy-mode", "-q", "-t", p) }},
		{name: "input off", reason: sessions.ReasonInputOff,
			shut: func(b *bench, p string) { b.tmux("select-pane", "-d", "-t", p) },
			open: func(b *bench, p string) { b.tmux("select-pane", "-e", "-t", p) }},
		{name: "synchronised", reason: sessions.ReasonSynchronized,
			shut: func(b *bench, p string) { b.tmux("set-option", "-w", "-t", p, "synchronize-panes", "on") },
			open: func(b *bench, p string) { b.tmux("set-option", "-w", "-t", p, "synchronize-panes", "off") }},
		{name: "dialog", reason: sessions.ReasonDialogOpen,
			shut: func(b *bench, p string) { b.touch("dialog"); b.sees("agent", "1. Yes") },
			open: func(b *bench, p string) { b.remove("dialog"); b.seesNot("agent", "1. Yes") }},
		{name: "draft", reason: sessions.ReasonHumanDraft, alsoArrives: "half a thought\x15",
			shut: func(b *bench, p string) { b.human("agent", "half a thought") },
			open: func(b *bench, p string) { b.press("agent", "C-u"); b.seesNot("agent", "half") }},
		{name: "busy", reason: sessions.ReasonAgentBusy, flags: []string{"--busy", "1s"}, alsoArrives: "go\r",
			shut: func(b *bench, p string) { b.human("agent", "go"); b.press("agent", "Enter"); b.sees("agent", "esc to") },
			open: func(b *bench, p string) { b.seesNot("agent", "esc to") }},
	} {
		for _, profile := range []string{"codex", "claude", "gemini"} {
			t.Run(tc.name+"/"+profile, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.agent("agent", profile, append(tc.flags, "--profile", profile, "--dialog-file", b.Dir()+"/dialog", "--suggestion", "Ask anything")...)
				d := b.delivery("agent", profile, notice(1))
				tc.shut(b, d.Target.PaneID)
				b.want(b.deliver(d), sessions.Waiting, tc.reason)
				if v, err := b.Look(context.Background(), d.Target, d.Profile); err != nil || v.Open || v.Reason != tc.reason || v.Detail == "" {
					t.Errorf("Look = %+v, %v", v, err)
				}
				tc.open(b, d.Target.PaneID)
				if got := string(standin.RawBytes(b.entries("agent"))); got != tc.alsoArrives {
					t.Fatalf("before the gate opened the agent received %q", got)
				}
				b.delivered(d)
			})
		}
	}
}

// TMUX consequence 6: who reads in copy-mode keeps the place; delivery follows
// within a second of leaving.
func TestCopyModeKeepsItsPlace(t *testing.T) { // not parallel: it measures
	b := newBench(t)
	withHistory := append([]string{"sh", "-c", `seq 300; exec "$@"`, "sh"}, b.argv("agent", "codex")...)
	if err := b.Open(lab.Pane{Session: "agent", Argv: withHistory}); err != nil {
		t.Fatal(err)
	}
	b.sees("agent", "›")
	best := time.Hour
	for n := range 3 {
		d := b.delivery("agent", "codex", notice(n))
		b.tmux("copy-mode", "-t", d.Target.PaneID)
		b.tmux("send-keys", "-t", d.Target.PaneID, "-N", "40", "-X", "scroll-up")
		const place = "#{pane_in_mode} #{pane_mode} #{scroll_position} #{copy_cursor_x} #{copy_cursor_y}"
		before := b.tmux("display-message", "-p", "-t", d.Target.PaneID, place)
		if !strings.HasPrefix(before, "1 copy-mode 40 ") {
			t.Fatalf("nobody has scrolled: %q", before)
		}
		received := len(b.entries("agent"))
		for range 3 {
			b.want(b.deliver(d), sessions.Waiting, sessions.ReasonPaneInMode)
		}
		if after := b.tmux("display-message", "-p", "-t", d.Target.PaneID, place); after != before {
			t.Errorf("the place was %q and is %q", before, after)
		}
		if len(b.entries("agent")) != received {
			t.Error("something arrived in copy-mode")
		}
		b.tmux("send-keys", "-t", d.Target.PaneID, "-X", "cancel")
		left := time.Now()
		b.delivered(d)
		best = min(best, time.Since(left))
	}
	if best > time.Second {
		t.Errorf("delivered %v after leaving copy-mode, at best", best)
	}
}

// When the agent has gone, its pane is a shell, and a shell executes each line.
func TestShellInForeground(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"codex", "claude", "gemini", "opencode", "generic"} {
		for _, shell := range [][]string{{"sh"}, {"bash", "--norc", "-i"}, {"sh", "-c", "cat; true"}} {
			t.Run(profile+"/"+strings.Join(shell, " "), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				if err := b.Open(lab.Pane{Session: "agent", Argv: shell}); err != nil {
					t.Fatal(err)
				}
				d := b.delivery("agent", profile, "touch "+b.Dir()+"/executed")
				eventually(t, "the shell is there", func() bool {
					return b.deliver(d).Reason == sessions.ReasonWrongProgram
				})
				b.want(b.deliver(d), sessions.Blocked, sessions.ReasonWrongProgram)
				if s, _ := b.Screen("agent"); strings.Contains(s, "executed") {
					t.Errorf("the shell got something:\n%s", s)
				}
			})
		}
	}
}

func TestUnexpectedProgram(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "vim")
	b.want(b.deliver(b.delivery("agent", "codex", notice(1))), sessions.Blocked, sessions.ReasonWrongProgram)
	b.untouched("agent")
}

// An agent that a person started from a shell, and that leaves: typed into while
// it is in the foreground, not after.
func TestAgentLeavesToItsShell(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.Open(lab.Pane{Session: "agent", Argv: []string{"bash", "--norc", "-i"}}); err != nil {
		t.Fatal(err)
	}
	b.tmux("send-keys", "-t", "=agent:", "-l", "--", strings.Join(b.argv("agent", "codex", "--exit-file", b.Dir()+"/exit"), " "))
	b.tmux("send-keys", "-t", "=agent:", "Enter")
	b.started("agent")
	b.sees("agent", "›")
	b.delivered(b.delivery("agent", "codex", notice(1)))
	b.touch("exit")
	d := b.delivery("agent", "codex", notice(2))
	eventually(t, "the shell is back", func() bool {
		return b.tmux("display-message", "-p", "-t", d.Target.PaneID, "#{pane_current_command}") == "bash"
	})
	b.want(b.deliver(d), sessions.Blocked, sessions.ReasonWrongProgram)
	b.submitted("agent", notice(1)+trailer)
}

// A program that the profile does not know draws a screen it does not know.
func TestUnknownScreen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--profile", "generic")
	b.want(b.deliver(b.delivery("agent", "codex", notice(1))), sessions.Waiting, sessions.ReasonUnknownScreen)
	b.untouched("agent")
}

// A dim suggestion is no draft, however it is drawn; a typed line is.
func TestSuggestionIsNoDraft(t *testing.T) {
	t.Parallel()
	for _, suggestion := range []string{"Ask Codex to do anything", "\x1b[22;7mT\x1b[27;2mry asking"} {
		b := newBench(t)
		b.agent("agent", "codex", "--suggestion", suggestion)
		b.delivered(b.delivery("agent", "codex", notice(1)))
	}
	b := newBench(t)
	b.agent("agent", "codex", "--draft", "Ask Codex to do anything")
	b.want(b.deliver(b.delivery("agent", "codex", notice(1))), sessions.Waiting, sessions.ReasonHumanDraft)
	b.untouched("agent")
}

// A profile that says the agent queues input itself is delivered to in a turn.
func TestBusyAgentThatQueues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex", "--busy", "30s")
	b.delivered(b.delivery("agent", "codex", notice(1)))
	b.sees("agent", "esc to")
	d := b.delivery("agent", "codex", notice(2))
	b.want(b.deliver(d), sessions.Waiting, sessions.ReasonAgentBusy)
	d.Profile.WaitIdle = false
	b.delivered(d)
	b.submitted("agent", notice(1)+trailer, notice(2)+trailer)
}
