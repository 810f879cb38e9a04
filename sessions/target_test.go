package sessions_test

import (
	"context"
	"errors"
	"testing"

	"arkamsg/internal/errkind"
	"arkamsg/internal/lab"
	"arkamsg/sessions"
)

// TMUX 1: tmux itself would take "bill" for "billing".
func TestNamesAreExact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("billing", "codex")
	for _, name := range []sessions.Name{"bill", "b*", "billing:", "=billing", "", ":", ".", "{next}", "$0", "%0", "-R"} {
		_, err := b.Pin(context.Background(), name)
		if !errors.Is(err, sessions.ErrMissing) || errkind.Of(err) != errkind.Refused {
			t.Errorf("Pin(%q) = %v, want ErrMissing", name, err)
		}
	}
	b.untouched("billing")
}

// A name may hold what tmux would expand, split or match.
func TestForeignNamesAreOnlyCompared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("plain", "codex")
	for _, name := range []string{"a b", "#{pid}", "é—ü", "x;y", "50%", "#(touch hacked)", "11 $9 %9"} {
		if err := b.Open(lab.Pane{Session: name, Argv: b.argv("other", "codex")}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Pin(context.Background(), sessions.Name(name)); err != nil {
			list, _ := b.Sessions(context.Background())
			t.Errorf("Pin(%q): %v; there are %v", name, err, list)
		}
	}
}

// TMUX 11: the active pane at pin time, and then that pane whatever is active.
func TestPinnedPaneStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("two", "codex")
	d := b.delivery("two", "codex", notice(1))
	b.tmux(append([]string{"split-window", "-d", "-t", "=two:", "--"}, b.argv("second", "codex")...)...)
	b.started("second")
	b.tmux("select-pane", "-t", "=two:.+1")
	b.delivered(d)
	b.submitted("two", notice(1)+trailer)
	b.untouched("second")

	if p := b.pin("two"); p.SamePane(d.Target) || p.Panes != 2 {
		t.Errorf("a new pin is %+v, want the pane that is active now, one of 2", p)
	}
}

// TMUX 16.
func TestBaseIndexDoesNotMatter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("first", "codex")
	b.tmux("set-option", "-g", "base-index", "1")
	b.tmux("set-option", "-g", "pane-base-index", "1")
	b.agent("based", "codex")
	b.delivered(b.delivery("based", "codex", notice(1)))
	b.submitted("based", notice(1)+trailer)
}

// TMUX 17: the name is for finding; what was pinned is the pane.
func TestRenamedSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("old", "codex")
	d := b.delivery("old", "codex", notice(1))
	b.tmux("rename-session", "-t", "=old:", "new")
	b.delivered(d)
	b.submitted("old", notice(1)+trailer)
	if _, err := b.Pin(context.Background(), "old"); !errors.Is(err, sessions.ErrMissing) {
		t.Errorf("the old name still resolves: %v", err)
	}
}

// TMUX 17: sessions of a group share their panes.
func TestGroupedSessionsAreToldApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("one", "codex")
	b.tmux("new-session", "-d", "-t", "=one", "-s", "two")
	p, q := b.pin("one"), b.pin("two")
	if p.SessionID == q.SessionID || p.PaneID != q.PaneID {
		t.Fatalf("pins %+v and %+v", p, q)
	}
	for i, name := range []string{"one", "two"} {
		b.delivered(b.delivery(name, "codex", notice(i)))
	}
	b.submitted("one", notice(0)+trailer, notice(1)+trailer)
}

// A pane that moved to another session is not the pinned one any more.
func TestMovedPane(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("here", "codex")
	b.agent("there", "codex")
	d := b.delivery("here", "codex", notice(1))
	b.tmux("join-pane", "-d", "-s", d.Target.PaneID, "-t", "=there:")
	b.want(b.deliver(d), sessions.Waiting, sessions.ReasonTmuxUnavailable)
	b.untouched("here")
	b.untouched("there")
}

// TMUX 10: the ids start again at %0 in a new server, and strangers get them.
func TestRestartedServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	b.tmux("kill-server")
	eventually(t, "the server is gone", func() bool { _, err := b.Tmux("list-sessions"); return err != nil })
	b.want(b.deliver(d), sessions.Blocked, sessions.ReasonMissingSession)

	b.agent("stranger", "codex")
	if p := b.pin("stranger"); p.PaneID != d.Target.PaneID || p.SessionID != d.Target.SessionID {
		t.Fatalf("the stranger has %s %s, the test needs the same ids as %+v", p.SessionID, p.PaneID, d.Target)
	}
	b.want(b.deliver(d), sessions.Waiting, sessions.ReasonTmuxUnavailable)
	b.untouched("stranger")
}

// A pane whose program was replaced has the same id and another process.
func TestRespawnedPane(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	b.tmux(append([]string{"respawn-pane", "-k", "-t", d.Target.PaneID, "--"}, b.argv("other", "codex")...)...)
	b.started("other")
	b.want(b.deliver(d), sessions.Waiting, sessions.ReasonTmuxUnavailable)
	b.untouched("other")
}

// TMUX 15: absent session, absent server and a server out of reach.
func TestMissingIsNotUnavailable(t *testing.T) {
	ctx := context.Background()
	b := newBench(t)
	if _, err := b.Pin(ctx, "x"); !errors.Is(err, sessions.ErrMissing) {
		t.Errorf("no server: %v", err)
	}
	if _, err := b.Sessions(ctx); !errors.Is(err, sessions.ErrMissing) {
		t.Errorf("no server to list: %v", err)
	}
	b.agent("there", "codex")
	if _, err := b.Pin(ctx, "x"); !errors.Is(err, sessions.ErrMissing) {
		t.Errorf("no session: %v", err)
	}
	if list, err := b.Sessions(ctx); err != nil || len(list) != 1 || list[0].Name != "there" {
		t.Errorf("Sessions = %v, %v", list, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := b.Pin(ctx, "there"); !errors.Is(err, sessions.ErrUnavailable) || errkind.Hint(err) == "" {
		t.Errorf("tmux not installed: %v", err)
	}
}

// TMUX 7: a paste into a dead pane would take the whole server down.
func TestDeadPane(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("alive", "codex")
	b.tmux("set-option", "-g", "remain-on-exit", "on")
	b.agent("dead", "codex", "--exit-file", b.Dir()+"/exit")
	d := b.delivery("dead", "codex", notice(1))
	b.touch("exit")
	eventually(t, "the pane is dead", func() bool { return b.tmux("display-message", "-p", "-t", d.Target.PaneID, "#{pane_dead}") == "1" })
	b.want(b.deliver(d), sessions.Blocked, sessions.ReasonTargetDead)
	b.delivered(b.delivery("alive", "codex", notice(2))) // the server lives
}
