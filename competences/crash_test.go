package competences

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
)

// TestMain lets the test binary be the program that is killed.
func TestMain(m *testing.M) {
	if home := os.Getenv("ARKA_TEST_PERSIST_HOME"); home != "" {
		os.Exit(child(home, []byte(os.Getenv("ARKA_TEST_PERSIST_BODY"))))
	}
	os.Exit(m.Run())
}

// child is a daemon in small: it takes the lead, finishes what its predecessor
// left, and persists one body.
func child(home string, raw []byte) int {
	f, err := boot(home, Settings{PerMinute: 1000})
	if err == nil {
		err = f.lead()
	}
	if err == nil {
		err = errors.Join(f.Recover(bg), f.finishAll())
	}
	if err != nil {
		fmt.Println("start:", err)
		return 1
	}
	a, err := f.PersistLocal(bg, raw)
	fmt.Printf("created=%v code=%s body=%s\n", a.Created, code(err), a.Body)
	f.stop()
	return 0
}

// lead takes the daemon's place, as after the OS lock.
func (f *fixture) lead() error {
	l, err := f.journal.Lead(bg, journal.Candidate{Host: "test", PID: os.Getpid(), BootID: "boot", LockID: "lock"}, time.Minute)
	f.term = func() journal.Term { return l.Term }
	return err
}

// finishAll is the daemon's dispatch at its start.
func (f *fixture) finishAll() error {
	for {
		lanes, _, err := f.journal.ReadyLanes(bg, journal.KindPersist)
		if err != nil || len(lanes) == 0 {
			return err
		}
		for _, lane := range lanes {
			t, err := f.journal.Claim(bg, lane, f.holder, lease, f.term())
			if errkind.Of(err) == errkind.NotFound && err != nil {
				continue
			}
			if err != nil {
				return err
			}
			if err := f.Route(bg, t); err != nil {
				return err
			}
		}
	}
}

// labels are the instants at which a persist is killed.
var labels = []string{
	"competences:appended", "competences:temp-created", "competences:temp-written", "competences:temp-synced",
	"competences:linked", "competences:unlinked", "competences:published", "competences:reloaded",
	"competences:recorded", "competences:before-export", "competences:export-written",
	"journal:written:1", "journal:written:2", "journal:written:3",
}

// run starts the child; killed says that it died by SIGKILL.
func run(t *testing.T, home, label string, raw []byte) (out string, killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "ARKA_TEST_PERSIST_HOME="+home, "ARKA_TEST_PERSIST_BODY="+string(raw), crash.Env+"="+label)
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		killed = exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	}
	if err != nil && !killed {
		t.Fatalf("child: %v\n%s", err, data)
	}
	return string(data), killed
}

// TestKilledAtEveryStep: after a restart and a retry there is always an answer
// 201 or 200, one whole file, and exports that equal the journal.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	rounds, twice := len(labels), 7
	seed := uint64(1)
	if long {
		rounds, twice, seed = 300, 3, uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d rounds", seed, rounds)
	r := rand.New(rand.NewPCG(seed, seed))
	home := t.TempDir()
	kills := 0
	for round := range rounds {
		label := labels[round%len(labels)]
		if round >= len(labels) {
			label = labels[r.IntN(len(labels))]
		}
		raw := body("M1", fmt.Sprintf("Tuée au pas %d", round), persistID(), partialEvery(round))
		_, killed := run(t, home, label, raw)
		if killed {
			kills++
		}
		if round%twice == 0 { // killed again while repairing
			run(t, home, labels[r.IntN(len(labels))], raw)
		}
		out, _ := run(t, home, "", raw)
		if !strings.Contains(out, "code= body={") {
			t.Fatalf("round %d, %s: %s", round, label, out)
		}
		if long || round == rounds-1 {
			inspect(t, home, round+1)
		}
	}
	t.Logf("%d kills", kills)
	if kills < rounds*8/10 {
		t.Errorf("only %d of %d rounds were killed: labels are not reached", kills, rounds)
	}
}

func partialEvery(round int) m {
	if round%4 == 0 {
		return m{"learning_metadata.partial": true, "learning_metadata.dropout_reason": "coupure"}
	}
	return m{}
}

func inspect(t *testing.T, home string, want int) {
	t.Helper()
	f, err := boot(home, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.stop()
	f.sound(t)
	items, _ := f.List(bg)
	if len(items) != want || lineCount(t, f, auditFile) != want {
		t.Errorf("%d competences and %d audit lines, want %d", len(items), lineCount(t, f, auditFile), want)
	}
}
