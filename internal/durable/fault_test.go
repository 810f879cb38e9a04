package durable_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/crash"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

// The test binary is also the process that gets killed, or runs out of disk.
func TestMain(m *testing.M) {
	what := os.Getenv("DURABLE_CHILD")
	if what == "" {
		os.Exit(m.Run())
	}
	if err := beChild(what, os.Args[1]); err != nil {
		fmt.Println(errkind.Of(err), err)
		os.Exit(1)
	}
	os.Exit(0)
}

const newContent = "new content, longer than the old\n"

func beChild(what, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	switch what {
	case "new":
		return durable.WriteNew(root, "a", []byte(newContent), 0o600)
	case "replace":
		return durable.Replace(root, "a", []byte(newContent), 0o600)
	case "append":
		return durable.AppendLine(root, "a", []byte(newContent), 0o600)
	case "append many":
		for i := range 20 {
			line := fmt.Sprintf("%d:%s", os.Getpid(), strings.Repeat(fmt.Sprint(i%10), 3000))
			if err := durable.AppendLine(root, "a", []byte(line), 0o600); err != nil {
				return err
			}
		}
		return nil
	case "hold":
		f, err := durable.CreateHeld(root, "held", nil, 0o600)
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, _ = io.ReadAll(os.Stdin)
		return f.Close()
	}
	return errors.New("unknown child")
}

func child(what, dir string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), append(env, "DURABLE_CHILD="+what)...)
	return cmd
}

// kill -9 at each step: the name holds the old or the new content, whole, can be
// read, and the next write succeeds.
func TestKilledAtEachStep(t *testing.T) {
	for _, c := range []struct{ what, label, old, want string }{
		{"new", "durable:after-temp", "", ""},
		{"new", "durable:after-link", "", newContent},
		{"new", "durable:before-dirsync", "", newContent},
		{"replace", "durable:after-temp", "old\n", "old\n"},
		{"replace", "durable:after-rename", "old\n", newContent},
		{"append", "durable:before-append", "old\n", "old\n"},
		{"append", "durable:after-append", "old\n", "old\n" + newContent},
	} {
		t.Run(c.what+" "+c.label, func(t *testing.T) {
			root, dir := openRoot(t)
			if c.old != "" {
				must(t, os.WriteFile(filepath.Join(dir, "a"), []byte(c.old), 0o600))
			}
			err := child(c.what, dir, crash.Env+"="+c.label).Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the child ended with %v, want SIGKILL", err)
			}
			got, err := durable.ReadFile(root, "a", 1000)
			if string(got) != c.want || (err != nil) != (c.want == "") {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
			noTempsAfterSweep(t, root, dir)
			must(t, durable.Replace(root, "a", []byte("next"), 0o600))
		})
	}
}

// noTempsAfterSweep ages what was left and sweeps it.
func noTempsAfterSweep(t *testing.T, root *os.Root, dir string) {
	t.Helper()
	temps, err := filepath.Glob(filepath.Join(dir, ".tmp-*"))
	must(t, err)
	for _, name := range temps {
		must(t, os.Chtimes(name, time.Time{}, time.Now().Add(-time.Hour)))
	}
	if n, err := durable.Sweep(root, "."); n != len(temps) || err != nil {
		t.Errorf("swept %d of %d: %v", n, len(temps), err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, ".tmp-*")); len(names) != 0 {
		t.Errorf("%v left, %v", names, err)
	}
}

// A writer that lives keeps its temporary file, however old, and its lock.
func TestSweepAndTryHoldRespectTheLiving(t *testing.T) {
	root, dir := openRoot(t)
	cmd := child("hold", dir)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = stdout.Read(make([]byte, 4))
	must(t, err)

	must(t, os.Link(filepath.Join(dir, "held"), filepath.Join(dir, ".tmp-0123"))) // as between link and unlink
	must(t, os.Chtimes(filepath.Join(dir, "held"), time.Time{}, time.Now().Add(-time.Hour)))
	if n, err := durable.Sweep(root, "."); n != 0 || err != nil {
		t.Errorf("swept %d: %v", n, err)
	}
	if f, held, err := durable.TryHold(root, "held"); held || f != nil || err != nil {
		t.Errorf("taken from the living: %v %v", held, err)
	}
	stdin.Close()
	must(t, cmd.Wait())
	f, held, err := durable.TryHold(root, "held")
	if !held || err != nil {
		t.Fatalf("the dead hold: %v %v", held, err)
	}
	f.Close()
	if _, _, err := durable.TryHold(root, "absent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestAppendingProcessesTakeTurns(t *testing.T) {
	_, dir := openRoot(t)
	var all []*exec.Cmd
	for range 4 {
		cmd := child("append many", dir)
		must(t, cmd.Start())
		all = append(all, cmd)
	}
	for _, cmd := range all {
		must(t, cmd.Wait())
	}
	lines := strings.Split(strings.TrimSuffix(content(t, filepath.Join(dir, "a")), "\n"), "\n")
	for _, line := range lines {
		_, text, _ := strings.Cut(line, ":")
		if len(text) != 3000 || strings.Trim(text, text[:1]) != "" {
			t.Errorf("torn or merged: %.40q", line)
		}
	}
	if len(lines) != 80 {
		t.Errorf("%d lines", len(lines))
	}
}

// A disk that is full in the middle of a write: no file, no half line, an error
// that says what to do. A limit of file size stands in for the disk.
func TestNoRoom(t *testing.T) {
	for what, old := range map[string]string{"new": "", "replace": "old\n", "append": "old\n"} {
		_, dir := openRoot(t)
		if old != "" {
			must(t, os.WriteFile(filepath.Join(dir, "a"), []byte(old), 0o600))
		}
		cmd := exec.Command("/bin/sh", "-c", `trap "" XFSZ; ulimit -f 0; exec "$0" "$1"`, os.Args[0], dir)
		if what == "append" { // room for a part of the line: one block of 512 bytes
			must(t, os.WriteFile(filepath.Join(dir, "a"), []byte(strings.Repeat("x", 507)+"\nold\n"), 0o600))
			old = content(t, filepath.Join(dir, "a"))
			cmd.Args[2] = `trap "" XFSZ; ulimit -f 1; exec "$0" "$1"`
		}
		cmd.Env = append(os.Environ(), "DURABLE_CHILD="+what)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "not_now") {
			t.Errorf("%s: %v %s", what, err, out)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "a")); string(got) != old {
			t.Errorf("%s: %q", what, got)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".tmp-*")); len(left) != 0 {
			t.Errorf("%s left %v", what, left)
		}
	}
}

func TestReadRefusesWhatIsNoPlainFile(t *testing.T) {
	root, dir := openRoot(t)
	outside := filepath.Join(t.TempDir(), "secret")
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	must(t, os.WriteFile(at("plain"), []byte("12345"), 0o600))
	must(t, os.Symlink(outside, at("link")))
	must(t, os.Symlink("plain", at("inner")))
	must(t, os.Symlink(".", at("loop")))
	must(t, os.Link(outside, at("hard")))
	must(t, os.Link(outside, at(".tmp-evil"))) // our own name is no disguise
	must(t, unix.Mkfifo(at("fifo"), 0o600))
	must(t, os.Mkdir(at("folder"), 0o700))
	if socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
		must(t, unix.Bind(socket, &unix.SockaddrUnix{Name: at("sock")}))
		defer unix.Close(socket)
	}
	for name, want := range map[string]string{
		"link": "too many levels", "inner": "too many levels", "loop/plain": "not a directory", "hard": "hard links",
		"fifo": "FIFO", "folder": "is a folder", "sock": "no such device", "../x": "not a name inside",
		"/etc/passwd": "not a name inside", "plain/x": "not a directory", "folder/..": "not a name inside", ".": "not a name inside",
	} {
		_, err := durable.ReadFile(root, name, 100)
		if errkind.Of(err) != errkind.Refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: %v, want %q", name, errkind.Of(err), err, want)
		}
	}
	if _, err := durable.ReadFile(root, "plain", 4); errkind.Of(err) != errkind.Refused {
		t.Errorf("too large: %v", err)
	}
	if got, err := durable.ReadFile(root, "plain", 5); string(got) != "12345" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := durable.ReadFile(root, "absent", 5); errkind.Of(err) != errkind.NotFound {
		t.Error(err)
	}
}

func TestWritesFollowNoLinks(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "a"), []byte("theirs"), 0o600))
	root, dir := openRoot(t)
	must(t, os.Symlink(outside, filepath.Join(dir, "d")))
	must(t, os.Symlink(filepath.Join(outside, "a"), filepath.Join(dir, "a")))
	for name, err := range map[string]error{
		"new": durable.WriteNew(root, "d/x", nil, 0o600), "replace": durable.Replace(root, "d/a", nil, 0o600),
		"append": durable.AppendLine(root, "d/a", []byte("x"), 0o600), "append to link": durable.AppendLine(root, "a", []byte("x"), 0o600),
		"mkdir": durable.MkdirAll(root, "d/e", 0o700), "remove": durable.Remove(root, "d/a"), "out": durable.WriteNew(root, "../x", nil, 0o600),
	} {
		if errkind.Of(err) != errkind.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 || content(t, filepath.Join(outside, "a")) != "theirs" {
		t.Error("something outside was changed")
	}
}

func TestReadOnlyFolderIsRefused(t *testing.T) {
	if os.Geteuid() == 0 {
		return // root writes everywhere; the mapping is covered by TestWritesFollowNoLinks
	}
	root, dir := openRoot(t)
	must(t, os.Chmod(dir, 0o500))
	if err := durable.WriteNew(root, "a", nil, 0o600); errkind.Of(err) != errkind.Refused || errkind.Hint(err) == "" {
		t.Error(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The lock spans looking at the last line and writing the next one.
func TestAppendWaitsForTheLock(t *testing.T) {
	root, dir := openRoot(t)
	other, err := os.Create(filepath.Join(dir, "a"))
	must(t, err)
	must(t, unix.Flock(int(other.Fd()), unix.LOCK_EX))
	done := make(chan error, 1)
	go func() { done <- durable.AppendLine(root, "a", []byte("x"), 0o600) }()
	select {
	case err := <-done:
		t.Errorf("did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	must(t, other.Close())
	must(t, <-done)
}
