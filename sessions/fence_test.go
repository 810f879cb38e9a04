package sessions_test

import (
	"context"
	"errors"
	"testing"

	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// Whatever changes between the look and the paste, the server sees it in the
// command that would paste: nothing arrives, no buffer stays.
func TestPasteIsRefusedWhenTheWorldMoved(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench, d sessions.Delivery){
		"died":      func(b *bench, d sessions.Delivery) { b.kill(d) },
		"copy-mode": func(b *bench, d sessions.Delivery) { b.tmux("copy-mode", "-t", d.Target.PaneID) },
		"input off": func(b *bench, d sessions.Delivery) { b.tmux("select-pane", "-d", "-t", d.Target.PaneID) },
		"synced": func(b *bench, d sessions.Delivery) {
			b.tmux("set-option", "-p", "-t", d.Target.PaneID, "synchronize-panes", "on")
		},
		"later one": func(b *bench, d sessions.Delivery) {
			b.tmux("set-option", "-p", "-t", d.Target.PaneID, "@arkamsg_"+journalID, "99")
		},
		"same token": func(b *bench, d sessions.Delivery) {
			b.tmux("set-option", "-p", "-t", d.Target.PaneID, "@arkamsg_"+journalID, "1")
		},
		"done": func(b *bench, d sessions.Delivery) {
			b.tmux("set-option", "-p", "-t", d.Target.PaneID, "@arkamsg_"+journalID+"_1", "p")
		},
		"respawned": func(b *bench, d sessions.Delivery) {
			b.tmux(append([]string{"respawn-pane", "-k", "-t", d.Target.PaneID, "--"}, b.argv("agent", "codex")...)...)
		},
		"moved away": func(b *bench, d sessions.Delivery) { b.tmux("join-pane", "-d", "-s", d.Target.PaneID, "-t", "=keep:") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.agent("agent", "codex")
			b.agent("keep", "codex")
			b.tmux("set-option", "-g", "remain-on-exit", "on")
			d := b.delivery("agent", "codex", notice(1))
			done, err := b.PasteAfter(context.Background(), d, func() { change(b, d) })
			if done || err != nil && !errors.Is(err, sessions.ErrMoved) {
				t.Fatalf("pasted: %v, %v", done, err)
			}
			b.untouched("agent")
			b.untouched("keep")
			if left := b.tmux("list-buffers"); left != "" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// A keystroke moves the cursor: the paste would merge with a person's line.
func TestPasteIsRefusedAfterAKeystroke(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	done, err := b.PasteAfter(context.Background(), d, func() { b.human("agent", "h") })
	if done || err != nil {
		t.Fatalf("pasted: %v, %v", done, err)
	}
	if raw := string(standin.RawBytes(b.entries("agent"))); raw != "h" {
		t.Errorf("received %q", raw)
	}
}

// The Enter has the same condition, and its mark admits each step once.
func TestSubmitIsRefusedWhenTheWorldMoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, change := range map[string]func(b *bench, d sessions.Delivery){
		"copy-mode": func(b *bench, d sessions.Delivery) { b.tmux("copy-mode", "-t", d.Target.PaneID) },
		"keystroke": func(b *bench, d sessions.Delivery) { b.human("agent", "x") },
		"dialog":    func(b *bench, d sessions.Delivery) { b.touch("dialog"); b.sees("agent", "Would you like") },
		"submitted": func(b *bench, d sessions.Delivery) {
			if done, err := b.SubmitAfter(ctx, d, func() {}); !done || err != nil {
				b.Errorf("the first Enter: %v, %v", done, err)
			}
		},
		"forgotten": func(b *bench, d sessions.Delivery) {
			if err := b.Forget(ctx, d); err != nil {
				b.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.agent("agent", "codex", "--dialog-file", b.Dir()+"/dialog")
			d := b.delivery("agent", "codex", notice(1))
			if done, err := b.PasteAfter(ctx, d, func() {}); !done || err != nil {
				t.Fatalf("paste: %v, %v", done, err)
			}
			b.sees("agent", "NOTIFICATION")
			done, err := b.SubmitAfter(ctx, d, func() { change(b, d) })
			if done || err != nil {
				t.Fatalf("submitted: %v, %v", done, err)
			}
			for _, e := range b.entries("agent") {
				if e.Kind == "answer" || e.Kind == "enter" {
					t.Errorf("a key too many: %+v", e)
				}
			}
		})
	}
}

// Two holders of one message, the later adopting what the earlier typed.
func TestAdoptionContinuesFromTheMark(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.agent("agent", "codex")
	zombie := b.delivery("agent", "codex", notice(1))
	if done, err := b.PasteAfter(ctx, zombie, func() {}); !done || err != nil {
		t.Fatal(done, err)
	}
	heir := zombie
	heir.Token += 5
	b.delivered(heir)
	b.delivered(zombie) // reads the mark, types nothing
	if err := b.Forget(ctx, heir); err != nil {
		t.Fatal(err)
	}
	b.submitted("agent", notice(1)+trailer)

	later := b.delivery("agent", "codex", notice(2))
	later.Token = heir.Token + 1
	b.delivered(later)
	if _, err := b.Deliver(ctx, zombie); !errors.Is(err, sessions.ErrFenced) {
		t.Errorf("the zombie's paste: %v, want ErrFenced", err)
	}
	b.submitted("agent", notice(1)+trailer, notice(2)+trailer)
}

func TestMarksTellAndForget(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	b.delivered(d)
	m, err := b.Marks(ctx, d.Target, journalID)
	if err != nil || m.Token != d.Token || m.Messages[d.Event] != "s1" {
		t.Errorf("Marks = %+v, %v", m, err)
	}
	if m, _ := b.Marks(ctx, d.Target, "ffffffff"); m.Token != 0 || len(m.Messages) != 0 {
		t.Errorf("another journal sees %+v", m)
	}
	if err := b.Forget(ctx, d); err != nil {
		t.Fatal(err)
	}
	if m, _ := b.Marks(ctx, d.Target, journalID); m.Token != d.Token || len(m.Messages) != 0 {
		t.Errorf("after Forget: %+v", m)
	}
	b.tmux("kill-server")
	eventually(t, "forgetting in a gone pane is no error", func() bool { return b.Forget(ctx, d) == nil })
}

// Two journals share a pane without reading each other's marks.
func TestJournalsDoNotMix(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	d := b.delivery("agent", "codex", notice(1))
	b.delivered(d)
	d.Journal, d.Text = "00c0ffee", notice(2)
	b.delivered(d)
	b.submitted("agent", notice(1)+trailer, notice(2)+trailer)
}

// A buffer whose owner was killed is swept by a later delivery; a young one may
// still have an owner, and a person's own buffers are never touched.
func TestForeignBuffersStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	b.tmux("set-buffer", "-b", "mine", "keep")
	b.tmux("set-buffer", "keep too")
	b.tmux("set-buffer", "-b", "arkamsg-young", "x")
	b.delivered(b.delivery("agent", "codex", notice(1)))
	if got := b.tmux("list-buffers", "-F", "#{buffer_sample}"); got != "x\nkeep too\nkeep" {
		t.Errorf("buffers: %q", got)
	}
}
