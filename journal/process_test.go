package journal

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

// The tests need other processes: killed for real, writing at once, or being
// nobody. The test binary plays them when ARKA_TEST_CHILD names a part.

const childEnv = "ARKA_TEST_CHILD"

func TestMain(m *testing.M) {
	if part := os.Getenv(childEnv); part != "" {
		os.Exit(play(part, os.Args[1:]))
	}
	if !long() { // the default of 100 takes half a minute under -race
		if err := flag.Set("rapid.checks", "30"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

var parts = map[string]func(args []string) error{
	"append-and-die": appendAndDie,
	"append-forever": appendForever,
	"append-one":     appendOne,
	"status":         readStatus,
	"append-refused": appendRefused,
	"archive":        archiveAll,
	"accept-loss":    acceptLoss,
}

func play(part string, args []string) int {
	if err := parts[part](args); err != nil {
		fmt.Fprintln(os.Stderr, part, err)
		return 1
	}
	return 0
}

func openChild(home string, o Options) (*Journal, error) { return Open(context.Background(), home, o) }

func appendAndDie(args []string) error {
	j, err := openChild(args[0], Options{})
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(args[1])
	for i := range n {
		if _, err := j.Append(context.Background(), note(fmt.Sprint("m", i), "lane")); err != nil {
			return err
		}
	}
	return syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// appendForever prints each id after it was acknowledged.
func appendForever(args []string) error {
	j, err := openChild(args[0], Options{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", args[1], i)
		if _, err := j.Append(context.Background(), note(id, "lane")); err != nil {
			return err
		}
		fmt.Println(id)
		t, err := j.Claim(context.Background(), "lane", Holder(args[1]), time.Minute, 0)
		if err == nil && i%3 > 0 {
			err = j.Deliver(context.Background(), t, Outcome{})
		}
		if err != nil && !errors.Is(err, ErrNoWork) && !errors.Is(err, ErrStale) {
			return err
		}
	}
}

func appendOne(args []string) error {
	j, err := openChild(args[0], Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() {
			r, err := j.Append(context.Background(), note("same", "lane"))
			if err == nil && (r.EventID != 1 || r.State != Queued) {
				err = fmt.Errorf("receipt %+v", r)
			}
			if err == nil && r.Created {
				fmt.Println("created")
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func readStatus(args []string) error {
	j, err := openChild(args[0], Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer j.Close()
	s, err := j.Summary(context.Background())
	if err != nil {
		return err
	}
	if s.Delivered != 3 || j.Damage() != nil {
		return fmt.Errorf("%+v, damage %v", s, j.Damage())
	}
	return nil
}

func appendRefused(args []string) error {
	j, err := openChild(args[0], Options{})
	if err == nil {
		_, err = j.Append(context.Background(), note("x", "lane"))
	}
	if k := errkind.Of(err); k != errkind.Refused && k != errkind.NotNow || errkind.Hint(err) == "" {
		return fmt.Errorf("not refused by name: %v (hint %q)", err, errkind.Hint(err))
	}
	return nil
}

func archiveAll(args []string) error {
	j, err := openChild(args[0], Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	_, err = j.Archive(context.Background(), time.Now().Add(time.Hour))
	return err
}

func acceptLoss(args []string) error {
	j, err := openChild(args[0], Options{AcceptLoss: true})
	if err != nil {
		return err
	}
	defer j.Close()
	if err := j.Rebuild(context.Background()); err != nil {
		return err
	}
	return j.AcceptHead(context.Background())
}

// process is a child that plays a part.
type process struct {
	cmd *exec.Cmd
	out io.ReadCloser
}

func child(t *testing.T, part string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(must(os.Executable()), args...)
	cmd.Env = append(os.Environ(), childEnv+"="+part)
	cmd.Stderr = os.Stderr
	return &process{cmd: cmd, out: must(cmd.StdoutPipe())}
}

func (p *process) crashAt(label string) *process {
	p.cmd.Env = append(p.cmd.Env, crash.Env+"="+label)
	return p
}

// asNobody takes root's rights away, and runs a copy of the test binary that
// nobody can reach.
func (p *process) asNobody(t *testing.T) *process {
	t.Helper()
	if os.Geteuid() == 0 {
		p.cmd.Path = filepath.Join(t.TempDir(), "test")
		check(t, os.WriteFile(p.cmd.Path, must(os.ReadFile(must(os.Executable()))), 0o755))
		openToNobody(t, filepath.Dir(p.cmd.Path))
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return p
}

func (p *process) start(t *testing.T) *process {
	t.Helper()
	check(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// lines reads what the child says until it ends.
func (p *process) lines() (out []string) {
	sc := bufio.NewScanner(p.out)
	for sc.Scan() {
		out = append(out, sc.Text())
	}
	return out
}

// wait starts the child if needed and demands its end: a signal, or success.
func (p *process) wait(t *testing.T, want syscall.Signal) []string {
	t.Helper()
	if p.cmd.Process == nil {
		p.start(t)
	}
	lines := p.lines()
	_ = p.cmd.Wait()
	st := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if want == 0 && st != 0 || want != 0 && (!st.Signaled() || st.Signal() != want) {
		t.Fatalf("child ended with %v", p.cmd.ProcessState)
	}
	return lines
}

func TestHundredAppendsOfOneIDFromSeveralProcesses(t *testing.T) {
	home := t.TempDir()
	var ps []*process
	for range 5 {
		ps = append(ps, child(t, "append-one", home).start(t))
	}
	created := 0
	for _, p := range ps {
		created += len(p.wait(t, 0))
	}
	if created != 1 {
		t.Errorf("%d of 100 appends say they created it", created)
	}
	j := openIn(t, home, newFakeClock())
	if s := must(j.Summary(t.Context())); s.Events != 1 || s.Counters[CounterDuplicates] != 99 {
		t.Errorf("%+v", s)
	}
	verifyClean(t, j)
}

// TestKilledWritersLoseNothing kills two writers of one home at random instants
// and counts: everything acknowledged is there, and the journal is whole.
func TestKilledWritersLoseNothing(t *testing.T) {
	home := t.TempDir()
	rounds := 4
	if long() {
		rounds = 100
	}
	var said []string
	for round := range rounds {
		a := child(t, "append-forever", home, fmt.Sprintf("a%d", round)).start(t)
		b := child(t, "append-forever", home, fmt.Sprintf("b%d", round)).start(t)
		said = append(said, killAfter(t, a, 20+13*round)...)
		said = append(said, killAfter(t, b, 10)...)
	}
	assertKept(t, home, said)
}

// killAfter lets the child acknowledge n appends, then kills it.
func killAfter(t *testing.T, p *process, n int) (said []string) {
	t.Helper()
	sc := bufio.NewScanner(p.out)
	for sc.Scan() {
		if said = append(said, sc.Text()); len(said) == n {
			check(t, p.cmd.Process.Kill())
		}
	}
	_ = p.cmd.Wait()
	if len(said) < n {
		t.Fatalf("child ended after %d: %v", len(said), p.cmd.ProcessState)
	}
	return said
}

func assertKept(t *testing.T, home string, said []string) {
	t.Helper()
	ids := make([]MessageID, len(said))
	for i, s := range said {
		ids[i] = MessageID(s)
	}
	j := openIn(t, home, newFakeClock())
	known := must(j.Exists(t.Context(), ids...))
	for _, id := range ids {
		if !known[id] {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
	verifyClean(t, j)
}

// TestKilledAtEachStep kills a writer at each labelled step.
func TestKilledAtEachStep(t *testing.T) {
	for _, label := range []string{"journal:begun", "journal:written", "journal:before-commit", "journal:committed", "journal:head-written"} {
		t.Run(label, func(t *testing.T) {
			home := t.TempDir()
			must(0, openAndClose(t, home))
			said := child(t, "append-forever", home, "x").crashAt(label+":9").wait(t, syscall.SIGKILL)
			assertKept(t, home, said)
		})
	}
}

func openAndClose(t *testing.T, home string) error {
	j, err := Open(t.Context(), home, Options{})
	if err != nil {
		return err
	}
	return j.Close()
}

// TestArchivingKilledAtEachStep: at any instant each event is found once.
func TestArchivingKilledAtEachStep(t *testing.T) {
	for _, label := range []string{"journal:archive-copied", "journal:archive-dropping", "journal:archive-dropped"} {
		t.Run(label, func(t *testing.T) {
			home := t.TempDir()
			j := must(Open(t.Context(), home, Options{Sync: "off"}))
			fillDelivered(t, j, 300)
			check(t, j.Close())
			child(t, "archive", home).crashAt(label+":2").wait(t, syscall.SIGKILL)
			assertFoundOnce(t, home, 300)
			child(t, "archive", home).wait(t, 0)
			assertFoundOnce(t, home, 300)
		})
	}
}

func assertFoundOnce(t *testing.T, home string, n int) {
	t.Helper()
	j := must(Open(t.Context(), home, Options{}))
	defer j.Close()
	for i := range n {
		r, err := j.Get(t.Context(), MessageID(fmt.Sprint("old", i)))
		if err != nil || r.State != Delivered || len(r.History) != 2 {
			t.Fatalf("event %d: %+v %v", i, r, err)
		}
	}
	verifyClean(t, j)
}

// TestAcceptingLossKilledAtEachStep: killed while a person accepts the loss, the
// journal is refused as before, or good; and accepting again makes it good.
func TestAcceptingLossKilledAtEachStep(t *testing.T) {
	for _, label := range []string{"journal:begun:2", "journal:before-commit:2", "journal:committed:2", "journal:head-written:1"} {
		t.Run(label, func(t *testing.T) {
			home := lostHome(t)
			child(t, "accept-loss", home).crashAt(label).wait(t, syscall.SIGKILL)
			if j, err := Open(t.Context(), home, Options{}); err == nil {
				verifyClean(t, j)
				check(t, j.Close())
			} else if errkind.Of(err) != errkind.Damaged {
				t.Fatal(err)
			}
			child(t, "accept-loss", home).wait(t, 0)
			j := must(Open(t.Context(), home, Options{}))
			defer j.Close()
			must(j.Append(t.Context(), note("after", "lane")))
			verifyClean(t, j)
		})
	}
}

// lostHome is a home whose journal was replaced by an older copy.
func lostHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	j := must(Open(t.Context(), home, Options{}))
	fillLane(t, j, 4)
	old := filepath.Join(home, "old.db")
	check(t, j.Backup(t.Context(), old))
	must(j.Append(t.Context(), note("lost", "lane")))
	check(t, j.Close())
	check(t, os.Rename(old, filepath.Join(home, "journal.db")))
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(home, "journal.db"+suffix)) // there or not
	}
	return home
}

// long reports whether the long forms run (make fault).
func long() bool { return os.Getenv("ARKA_LONG") == "1" }
