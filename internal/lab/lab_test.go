package lab_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/lab"
)

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

func gone(path string) bool { _, err := os.Lstat(path); return os.IsNotExist(err) }

// TestMain lets the test binary be a process that holds a lab and is killed.
func TestMain(m *testing.M) {
	if os.Getenv("LAB_CHILD") == "" {
		os.Exit(m.Run())
	}
	l, err := lab.Start()
	if err == nil {
		err = l.Open(lab.Pane{Session: "s", Argv: []string{"sleep", "1000"}})
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	pid, _ := l.Tmux("display-message", "-p", "-t", "=s:", "#{pane_pid}")
	fmt.Println(l.Dir(), pid)
	select {}
}

func TestCloseLeavesNothing(t *testing.T) {
	l, err := lab.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Open(lab.Pane{Session: "odd #{pid} name", Argv: []string{"sleep", "1000"}, Env: []string{"K=V"}, Width: 60, Height: 10}); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Tmux("list-sessions", "-F", "#{session_name} #{window_width}x#{window_height}"); err != nil || got != "odd #{pid} name 60x10" {
		t.Errorf("sessions %q, %v", got, err)
	}
	if path, err := l.Program("codex"); err != nil || !strings.HasSuffix(path, "/bin/codex") {
		t.Errorf("Program = %q, %v", path, err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if !gone(l.Dir()) {
		t.Errorf("%s is left", l.Dir())
	}
}

func TestCloseWakesAStoppedServer(t *testing.T) {
	l, err := lab.Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Open(lab.Pane{Session: "s", Argv: []string{"sleep", "1000"}}); err != nil {
		t.Fatal(err)
	}
	pid, err := l.Tmux("display-message", "-p", "#{pid}")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil || !gone(l.Dir()) {
		t.Errorf("Close: %v", err)
	}
}

// However the holder dies, the server, its programs and the folder go.
func TestGuardCleansUpAfterAKill(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LAB_CHILD=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var dir string
		var pane int
		line, _ := bufio.NewReader(out).ReadString('\n')
		if _, err := fmt.Sscan(line, &dir, &pane); err != nil {
			t.Fatalf("the child said %q", line)
		}
		_ = cmd.Process.Signal(sig)
		_ = cmd.Wait()
		eventually(t, "the folder is gone after "+sig.String(), func() bool { return gone(dir) })
		eventually(t, "the pane's program is gone", func() bool { return syscall.Kill(pane, 0) != nil })
	}
}
