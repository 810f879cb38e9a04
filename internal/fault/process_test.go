package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/crash"
	"arkamsg/notifyd"
)

// program is the built binary, made once.
var program = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("ARKA_BIN"); given != "" {
		return given, nil
	}
	for _, root := range []string{"../../cmd", "../../internal", "../../doctor"} {
		if err := notice(root); err != nil {
			return "", err
		}
	}
	path := filepath.Join(scratch, "arkamsg")
	args := []string{"build", "-o", path}
	if raceEnabled {
		args = append(args, "-race") // its packages are compiled already, with the tests
	}
	out, err := exec.Command("go", append(args, "arkamsg/cmd/arkamsg")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// proc is a process of ours and what it says.
type proc struct {
	cmd  *exec.Cmd
	said tape
	done chan struct{} // closed when it has ended
}

// tape keeps what a process writes.
type tape struct {
	sync.Mutex
	text bytes.Buffer
}

func (t *tape) Write(b []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	return t.text.Write(b)
}

func (t *tape) String() string {
	t.Lock()
	defer t.Unlock()
	return t.text.String()
}

// spawn starts a process that does not outlive the test.
func spawn(t testing.TB, env []string, name string, args ...string) *proc {
	t.Helper()
	p := &proc{cmd: exec.Command(name, args...), done: make(chan struct{})}
	// The race detector would add a second to every exit.
	p.cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if said := p.said.String(); strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic:") {
			t.Errorf("%v:\n%s", p.cmd.Args, said)
		}
	})
	return p
}

func (p *proc) signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

func (p *proc) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *proc) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *proc) endsWithin(d time.Duration) bool { return eventually(d, p.ended) }

func (p *proc) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

func (p *proc) ready() bool {
	said := p.said.String()
	return strings.HasPrefix(said, "ready\n") || strings.Contains(said, "\nready\n")
}

// awaitReady waits until the daemon serves, or has ended; it reports which.
func (p *proc) awaitReady(t testing.TB) bool {
	t.Helper()
	if !eventually(patience, func() bool { return p.ready() || p.ended() }) {
		p.signal(syscall.SIGQUIT) // says where it stands
		p.endsWithin(time.Second)
		t.Fatalf("the daemon is neither ready nor dead:\n%s", p.said.String())
	}
	return p.ready()
}

// arm makes a process kill itself the nth time that it passes the label.
func arm(label string, nth int) string { return fmt.Sprintf("%s=%s:%d", crash.Env, label, nth) }

// daemonMain is a daemon whose lease has the length given: what `arkamsg daemon`
// is, without doors.
func daemonMain(args []string) int {
	ttl, err := time.ParseDuration(args[1])
	if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := runDaemon(ctx, config.Home(args[0]), ttl); err != nil {
		fmt.Fprintln(os.Stderr, "daemon:", err)
		return 4
	}
	return 0
}

func runDaemon(ctx context.Context, home config.Home, ttl time.Duration) error {
	file, err := config.Load(home)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	room, err := notifyd.Open(ctx, home, file, notifyd.OpenOptions{Logger: log})
	if err != nil {
		return err
	}
	d, err := notifyd.NewDaemon(room, notifyd.Options{
		Logger: log, LeaseTTL: ttl,
		Load:  func() (*config.File, error) { return config.Load(home) },
		Ready: func() { fmt.Fprintln(os.Stderr, "ready") },
	})
	if err != nil {
		return errors.Join(err, room.Close())
	}
	return errors.Join(d.Run(ctx), room.Close())
}
