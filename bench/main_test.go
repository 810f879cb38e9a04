package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"arkamsg/internal/standin"
)

// scratch holds the built program and the large journal while the run lasts.
var scratch string

// TestMain lets the test binary play an agent in a pane and the process that is
// woken.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "standin" {
		os.Exit(standin.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == "sleeper" {
		os.Exit(sleeperMain(os.Args[2]))
	}
	var err error
	if scratch, err = os.MkdirTemp("", "arkamsg-bench-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// built is the program as `make build` makes it, made once.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "arkamsg")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/arkamsg")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func program(b *testing.B) string {
	b.Helper()
	path, err := built()
	if err != nil {
		b.Fatal(err)
	}
	return path
}
