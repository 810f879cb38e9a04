package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

// Twenty processes, one subject, one second: twenty files, nothing overwritten.
func TestTwentyWritersWithOneSubject(t *testing.T) {
	tree := openTree(t)
	var writers []*exec.Cmd
	for i := range 20 {
		cmd := child(t, "publish", []string{tree.Dir(), "same subject", fmt.Sprintf("writer %d\n", i)})
		mustSucceed(t, cmd.Start())
		writers = append(writers, cmd)
	}
	for _, cmd := range writers {
		mustSucceed(t, cmd.Wait())
	}
	bodies, names := map[string]bool{}, map[string]bool{}
	for _, e := range entries(t, tree) {
		m, err := tree.Read(e.Path)
		if err != nil || e.Problems != nil {
			t.Errorf("%s: %v %v", e.Path, err, e.Problems)
		}
		bodies[m.Body], names[filepath.Base(e.Path)] = true, true
	}
	if len(bodies) != 20 || len(names) != 20 || !names["TODO__LD@PMO__same-subject-20.yaml"] {
		t.Errorf("%d bodies in %d files", len(bodies), len(names))
	}
}

// Many pushes of one id: one file and one event.
func TestPushesOfOneIDTakeTurns(t *testing.T) {
	tree := openTree(t)
	var pushes []*exec.Cmd
	for range 12 {
		cmd := child(t, "push", []string{tree.Dir(), "ONE", "s", "b\n"})
		mustSucceed(t, cmd.Start())
		pushes = append(pushes, cmd)
	}
	for _, cmd := range pushes {
		mustSucceed(t, cmd.Wait())
	}
	oneFileOneEvent(t, tree, "ONE")
}

func oneFileOneEvent(t *testing.T, tree *Tree, id ID) {
	t.Helper()
	found := entries(t, tree)
	if len(found) != 1 || found[0].ID != id || found[0].Problems != nil {
		t.Errorf("messages: %+v", found)
	}
	if got := journalOf(tree); got != string(id)+"\n" {
		t.Errorf("journal holds %q", got)
	}
	if left, err := tree.Pending(context.Background()); len(left) != 0 || err != nil {
		t.Errorf("outbox: %v %v", left, err)
	}
}

// kill -9 at every step of a push; the repair leaves one file and one event,
// whichever came first, and a repeat of the push changes nothing.
func TestRepairAfterKill(t *testing.T) {
	for _, label := range []string{
		"durable:after-temp", "durable:after-link", "durable:before-dirsync", "messaging:after-intent",
		"durable:after-temp:2", "messaging:before-publish", "durable:after-link:2", "durable:before-dirsync:2",
		"messaging:after-publish", "test:between", "durable:before-append", "durable:after-append",
		"test:after-journal", "messaging:before-done",
	} {
		for _, who := range []string{"daemon", "retry"} {
			t.Run(who+" "+label, func(t *testing.T) {
				t.Parallel()
				tree := openTree(t)
				cmd := child(t, "push", []string{tree.Dir(), "ID1", "s", "b\n"}, crash.Env+"="+label)
				killed(t, cmd.Run())
				if who == "daemon" {
					repair(t, tree)
				}
				again := draft("s", "b\n")
				again.Message.MessageID, again.At = "ID1", noon.Add(time.Hour)
				mustSucceed(t, push(context.Background(), tree, Intent{Draft: again, Envelope: json.RawMessage(`{}`)}))
				oneFileOneEvent(t, tree, "ID1")
			})
		}
	}
}

func killed(t *testing.T, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended with %v, want SIGKILL", err)
	}
}

func repair(t *testing.T, tree *Tree) {
	t.Helper()
	pending, err := tree.Pending(context.Background())
	mustSucceed(t, err)
	for _, in := range pending {
		mustSucceed(t, finish(context.Background(), tree, in))
	}
}

// A push that is slow is not a push that is dead.
func TestLivingPushIsNotRepaired(t *testing.T) {
	tree := openTree(t)
	cmd := child(t, "hold", []string{tree.Dir(), "SLOW"})
	stdin, err := cmd.StdinPipe()
	mustSucceed(t, err)
	stdout, err := cmd.StdoutPipe()
	mustSucceed(t, err)
	mustSucceed(t, cmd.Start())
	_, err = stdout.Read(make([]byte, 5))
	mustSucceed(t, err)

	if pending, err := tree.Pending(context.Background()); len(pending) != 0 || err != nil {
		t.Errorf("repaired under its hands: %v %v", pending, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	d := draft("held", "x\n")
	d.Message.MessageID = "SLOW"
	if _, err := tree.Intend(ctx, Intent{Draft: d, Envelope: json.RawMessage(`{}`)}); errkind.Of(err) != errkind.NotNow {
		t.Errorf("a second push of the id: %v", err)
	}
	mustSucceed(t, cmd.Process.Signal(syscall.SIGKILL))
	killed(t, cmd.Wait())
	stdin.Close()
	eventually(t, "the lock of the dead is free", func() bool {
		pending, err := tree.Pending(context.Background())
		return err == nil && len(pending) == 1 && pending[0].Draft.Message.MessageID == "SLOW"
	})
}

func TestDamagedOutboxEntryIsNamedAndHidesNoOther(t *testing.T) {
	tree := openTree(t)
	killed(t, child(t, "push", []string{tree.Dir(), "GOOD", "s", "b\n"}, crash.Env+"=messaging:after-intent").Run())
	writeFile(t, tree, ".outbox/BAD.json", "{")
	pending, err := tree.Pending(context.Background())
	if len(pending) != 1 || errkind.Of(err) != errkind.Damaged || !strings.Contains(err.Error(), "BAD.json") {
		t.Errorf("%v %v", pending, err)
	}
}

// Publish by itself, without the outbox, keeps an id single in its thread.
func TestConcurrentPublishOfOneID(t *testing.T) {
	tree := openTree(t)
	d := draft("x", "b\n")
	d.Message.MessageID = "ONE"
	refs := make(chan Ref, 16)
	for range cap(refs) {
		go func() {
			ref, err := tree.Publish(context.Background(), d)
			if err != nil {
				t.Error(err)
			}
			refs <- ref
		}()
	}
	first := <-refs
	for range cap(refs) - 1 {
		if ref := <-refs; ref != first {
			t.Errorf("%v and %v", first, ref)
		}
	}
	if n := len(entries(t, tree)); n != 1 {
		t.Errorf("%d files", n)
	}
}
