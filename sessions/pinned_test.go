package sessions_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/sessions"
)

func TestPinSurvivesBeingWritten(t *testing.T) {
	pin := sessions.Target{Name: "a b", ServerPID: 1, ServerStart: 2, SessionID: "$3", PaneID: "%4", PanePID: 5, Panes: 6}
	if got, err := sessions.ParseTarget(pin.String()); err != nil || got != pin {
		t.Errorf("ParseTarget = %+v, %v", got, err)
	}
	for _, s := range []string{"", "{}", "[]", `{"session_id":"$1","pane_id":"{next}","server_pid":1,"pane_pid":1}`,
		`{"session_id":"$1","pane_id":"%1","server_pid":0,"pane_pid":1}`} {
		if _, err := sessions.ParseTarget(s); errkind.Of(err) != errkind.Invalid {
			t.Errorf("ParseTarget(%q) = %v, want invalid", s, err)
		}
	}
}

// Alive follows the pane, not its name, and does not guess.
func TestAlive(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.agent("keep", "codex")
	b.agent("agent", "codex")
	pin := b.pin("agent")
	want := func(alive bool) {
		t.Helper()
		if got, err := b.Alive(ctx, pin); err != nil || got != alive {
			t.Fatalf("Alive = %v, %v, want %v", got, err, alive)
		}
	}
	want(true)
	b.tmux("rename-session", "-t", "=agent:", "other")
	want(true)
	if at, err := b.LastActivity(ctx, pin); err != nil || time.Since(at) > time.Hour {
		t.Errorf("LastActivity = %v, %v", at, err)
	}
	b.tmux(append([]string{"respawn-pane", "-k", "-t", pin.PaneID, "--"}, b.argv("later", "codex")...)...)
	want(false)
	b.tmux("kill-session", "-t", "=other:")
	want(false)
	if _, err := b.LastActivity(ctx, pin); !errors.Is(err, sessions.ErrMissing) {
		t.Errorf("LastActivity of a gone session: %v", err)
	}
	b.tmux("kill-server")
	eventually(t, "a gone server is no life", func() bool { alive, err := b.Alive(ctx, pin); return err == nil && !alive })
	quick := b.WithDeadline(func() time.Duration { return time.Nanosecond })
	if _, err := quick.Alive(ctx, pin); !errors.Is(err, sessions.ErrUnavailable) {
		t.Errorf("Alive without an answer: %v", err)
	}
}
