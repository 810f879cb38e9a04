package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/durable"
)

// The test binary is also the other processes: MESSAGING_CHILD says what to be.
func TestMain(m *testing.M) {
	if what := os.Getenv("MESSAGING_CHILD"); what != "" {
		if err := beChild(what, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts this binary as another process; env are further variables.
func child(t *testing.T, what string, args []string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), append(env, "MESSAGING_CHILD="+what)...)
	cmd.Stderr = os.Stderr
	return cmd
}

func beChild(what string, args []string) error {
	tree, err := Open(args[0])
	if err != nil {
		return err
	}
	ctx := context.Background()
	switch what {
	case "publish":
		_, err = tree.Publish(ctx, draft(args[1], args[2]))
	case "push":
		d := draft(args[2], args[3])
		d.Message.MessageID = ID(args[1])
		err = push(ctx, tree, Intent{Draft: d, Envelope: json.RawMessage(`{}`)})
	case "hold": // a push that hangs between intent and end, until stdin closes
		d := draft("held", "x\n")
		d.Message.MessageID = ID(args[1])
		if _, err = tree.Intend(ctx, Intent{Draft: d, Envelope: json.RawMessage(`{}`)}); err == nil {
			fmt.Println("held")
			_, _ = io.ReadAll(os.Stdin)
		}
	}
	return err
}

// push is what cmd/arkamsg does, with one file as the journal.
func push(ctx context.Context, tree *Tree, in Intent) error {
	for {
		held, err := tree.Intend(ctx, in)
		if err != nil {
			return err
		}
		adopted := held.Adopted
		if err := finish(ctx, tree, held); err != nil || !adopted {
			return err
		}
	}
}

// finish does both steps of an intent; both are idempotent.
func finish(ctx context.Context, tree *Tree, held *Intention) error {
	id := string(held.Draft.Message.MessageID)
	known := strings.Contains(journalOf(tree), id+"\n")
	if !known {
		if _, err := tree.Publish(ctx, held.Draft); err != nil {
			held.Release()
			return err
		}
		crash.At("test:between")
		if err := durable.AppendLine(tree.root, "journal", []byte(id), 0o600); err != nil {
			held.Release()
			return err
		}
		crash.At("test:after-journal")
	}
	return held.Done()
}

func journalOf(tree *Tree) string {
	data, _ := durable.ReadFile(tree.root, "journal", 1<<20)
	return string(data)
}

// size is how much a test does: some in every run, much with ARKA_LONG=1.
func size(some, much int) int {
	if os.Getenv("ARKA_LONG") != "" {
		return much
	}
	return some
}

// entries scans the tree.
func entries(t *testing.T, tree *Tree) []Entry {
	t.Helper()
	var all []Entry
	mustSucceed(t, tree.Scan(context.Background(), func(e Entry) error {
		all = append(all, e)
		return nil
	}))
	return all
}

// eventually polls a condition of another process.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !done(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
