package doctor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// builtIn is where the real program lies, once a test has asked for it.
var builtIn string

// built is the real program: the lab runs what users run.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "arkamsg-built-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "arkamsg")
	out, err := exec.Command("go", "build", "-o", path, "arkamsg/cmd/arkamsg").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// scratch is a TMPDIR of the test's own, short enough for a socket, in which
// nothing may be left.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ad-")
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// doctor is `arkamsg doctor …`, not started. The home that the environment names
// does not exist: a lab must not care.
func doctor(t *testing.T, tmp string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := built()
	must(t, err)
	cmd := exec.Command(path, append([]string{"doctor"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "ARKA_HOME=/nowhere", "ARKA_TMUX_SOCKET=/nowhere/tmux", "TMUX=/nowhere,1,1", "NO_COLOR=1")
	return cmd
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// The promise of ARKA §13, and the object that CI reads: its keys are the
// contract.
func TestLab(t *testing.T) {
	tmp := scratch(t)
	cmd := doctor(t, tmp, "--lab", "--json")
	began := time.Now()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	took := time.Since(began)
	if err != nil || took > 2*time.Minute {
		t.Fatalf("exit %d after %v\n%s%s", exitCode(err), took, out, &said)
	}
	t.Logf("| doctor --lab | %v |", took.Round(100*time.Millisecond))
	keys(t, out, "verdict", "lab", "version", "home", "took_ms", "checks")
	var r struct {
		Report
		Checks []json.RawMessage `json:"checks"`
	}
	must(t, json.Unmarshal(out, &r))
	if r.Verdict != Pass || !r.Lab {
		t.Errorf("%s", out)
	}
	var codes []Code
	for _, raw := range r.Checks {
		keys(t, raw, "code", "title", "state", "detail", "remedy", "took_ms")
		var c Result
		must(t, json.Unmarshal(raw, &c))
		codes = append(codes, c.Code)
		if c.State != OK {
			t.Errorf("%s is %s: %s", c.Code, c.State, c.Detail)
		}
	}
	if !slices.Equal(codes, Codes()) {
		t.Errorf("reported %v, documented %v", codes, Codes())
	}
	if n := strings.Count(said.String(), "\n"); n != len(codes) {
		t.Errorf("progress has %d lines for %d checks: %s", n, len(codes), &said)
	}
	nothingLeft(t, tmp)
}

func keys(t *testing.T, object []byte, want ...string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(object))
	var got []string
	_, err := dec.Token()
	must(t, err)
	for dec.More() {
		key, err := dec.Token()
		must(t, err)
		got = append(got, key.(string))
		var value json.RawMessage
		must(t, dec.Decode(&value))
	}
	if !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
}

// nothingLeft waits for the end of what was killed: no file in tmp, no process
// that names it.
func nothingLeft(t *testing.T, tmp string) {
	t.Helper()
	eventually(t, func() bool {
		entries, err := os.ReadDir(tmp)
		return err == nil && len(entries) == 0 && !named(t, tmp)
	})
}

// named reports whether a process has the folder in its command line.
func named(t *testing.T, dir string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	if len(lines) == 0 { // no /proc
		out, err := exec.Command("ps", "axww", "-o", "command=").Output()
		must(t, err)
		return bytes.Contains(out, []byte(dir))
	}
	return slices.ContainsFunc(lines, func(name string) bool {
		line, err := os.ReadFile(name) // a process that has ended meanwhile names nothing
		return err == nil && bytes.Contains(line, []byte(dir))
	})
}

// However the doctor ends, and wherever it is just then: while it builds the
// lab, while it watches a pane, while messages are on their way.
func TestAnInterruptedLabLeavesNothing(t *testing.T) {
	cases := []struct {
		signal syscall.Signal
		after  string
		exit   int
	}{
		{syscall.SIGINT, "tmux", 130},
		{syscall.SIGINT, "tmux_server", 130},
		{syscall.SIGTERM, "tests_apart", 130},
		{syscall.SIGKILL, "tmux", -1},
		{syscall.SIGKILL, "tests_apart", -1},
	}
	for _, c := range cases {
		t.Run(c.signal.String()+" after "+c.after, func(t *testing.T) {
			t.Parallel()
			tmp := scratch(t)
			cmd := doctor(t, tmp, "--lab", "--json")
			progress, err := cmd.StderrPipe()
			must(t, err)
			must(t, cmd.Start())
			await(t, progress, c.after)
			must(t, cmd.Process.Signal(c.signal))
			_, _ = io.Copy(io.Discard, progress)
			if got := exitCode(cmd.Wait()); got != c.exit {
				t.Errorf("exit %d, want %d", got, c.exit)
			}
			nothingLeft(t, tmp)
		})
	}
}

// await reads the progress until the check has ended.
func await(t *testing.T, progress io.Reader, code string) {
	t.Helper()
	lines := bufio.NewScanner(progress)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), " "+code) {
			return
		}
	}
	t.Fatalf("the doctor ended before %s", code)
}

func TestLabWithoutTmuxSaysWhatToInstall(t *testing.T) {
	cmd := doctor(t, scratch(t), "--lab")
	cmd.Env = append(cmd.Env, "PATH="+t.TempDir())
	out, err := cmd.Output()
	if exitCode(err) != 7 || !strings.Contains(string(out), "-> install tmux") || !strings.Contains(string(out), "FAIL: 1 failed") {
		t.Errorf("exit %d\n%s", exitCode(err), out)
	}
}

func TestUnusableArguments(t *testing.T) {
	for _, args := range [][]string{{"--lab", "--session", "x"}, {"everything"}, {"--no-such-flag"}} {
		cmd := doctor(t, scratch(t), args...)
		if out, err := cmd.CombinedOutput(); exitCode(err) != 2 || !strings.Contains(string(out), "Next: ") {
			t.Errorf("%v: exit %d\n%s", args, exitCode(err), out)
		}
	}
}

// Without --lab and without a home the doctor says so, in its own words.
func TestNoHome(t *testing.T) {
	cmd := doctor(t, scratch(t), "--json")
	out, err := cmd.Output()
	var r Report
	must(t, json.Unmarshal(out, &r))
	if exitCode(err) != 7 || r.Verdict != Failed || r.Home != "/nowhere" || r.Lab {
		t.Errorf("exit %d\n%s", exitCode(err), out)
	}
}
