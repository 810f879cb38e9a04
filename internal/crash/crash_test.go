package crash

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// The child passes the label three times and must die on the second.
func TestKillsAtTheArmedTurn(t *testing.T) {
	if os.Getenv("CRASH_CHILD") != "" {
		At("a:b")
		_, _ = os.Stdout.WriteString("1")
		At("other")
		At("a:b")
		_, _ = os.Stdout.WriteString("2")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "CRASH_CHILD=1", Env+"=a:b:2")
	out, err := cmd.Output()
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("child ended with %v, want SIGKILL", err)
	}
	if string(out) != "1" {
		t.Errorf("child printed %q, want it dead after the first pass", out)
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]struct {
		label string
		turn  int64
	}{
		"":                 {"", 1},
		"journal:commit":   {"journal:commit", 1},
		"journal:commit:7": {"journal:commit", 7},
		"plain:0":          {"plain:0", 1},
	} {
		if l, n := parse(in); l != want.label || n != want.turn {
			t.Errorf("parse(%q) = %q, %d", in, l, n)
		}
	}
}
