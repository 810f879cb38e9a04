package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// verb prepares the program as a process of its own, with its own home and no
// tmux server.
func verb(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{"arkamsg"}, args...) // TestMain goes by the name
	cmd.Env = append(os.Environ(), "ARKA_HOME="+home, "ARKA_TMUX_SOCKET="+filepath.Join(home, "no-tmux"),
		"NO_COLOR=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// said runs a verb that must succeed.
func said(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out, &errs)
	}
	return string(out)
}

// powerless takes root's rights away, and runs a copy of this program that
// nobody can reach.
func powerless(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return cmd
	}
	program, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(t.TempDir(), "arkamsg")
	if err := os.WriteFile(cmd.Path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	passable(t, filepath.Dir(cmd.Path))
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

const nobody = 65534

// passable lets everybody pass through our own temporary folders.
func passable(t *testing.T, dir string) {
	t.Helper()
	for ; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// frozen gives the home to a user without rights and takes every right to write
// from it; it returns what the home holds, byte for byte.
func frozen(t *testing.T, home string) func() string {
	t.Helper()
	passable(t, filepath.Dir(home))
	modes := func(dir, file os.FileMode) {
		err := filepath.Walk(home, func(path string, info os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			if os.Geteuid() == 0 {
				if err := os.Chown(path, nobody, nobody); err != nil {
					return err
				}
			}
			if info.IsDir() {
				return os.Chmod(path, dir)
			}
			return os.Chmod(path, file)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	modes(0o500, 0o400)
	t.Cleanup(func() { modes(0o700, 0o600) })
	return func() string { return contents(t, home) }
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		all.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			all.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// status, and what else only looks, works in a home in which its user may change
// nothing, and changes nothing.
func TestLookingChangesNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	said(t, verb(t, home, "init", "--yes", "--allow", "PMO=arka-p-PMO-codex"))
	said(t, verb(t, home, "push", "--from", "LD", "--to", "PMO", "--subject", "s", "--message", "m", "--id", "ro-1"))
	look := frozen(t, home)
	before := look()
	for _, args := range [][]string{
		{"status"}, {"status", "--json"}, {"events"}, {"show", "ro-1"}, {"dead", "list"}, {"journal", "verify"},
	} {
		out := said(t, powerless(t, verb(t, home, args...)))
		if args[0] == "status" && !strings.Contains(out, "1 queued") && !strings.Contains(out, `"queued":1`) {
			t.Errorf("%v says %s", args, out)
		}
	}
	if after := look(); after != before {
		t.Errorf("looking changed the home:\n%q\n%q", before, after)
	}
	push := powerless(t, verb(t, home, "push", "--from", "LD", "--to", "PMO", "--subject", "s", "--message", "m"))
	if out, err := push.CombinedOutput(); err == nil {
		t.Errorf("the home was not read-only: %s", out)
	}
}
