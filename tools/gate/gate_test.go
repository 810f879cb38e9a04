package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// judge runs real `go test -json` over a module made of one test file per
// package, so that the format is the go command's and not our memory of it.
func judge(t *testing.T, show string, packages map[string]string) (code int, out string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.26\n")
	for name, body := range packages {
		write(t, filepath.Join(dir, name, "p.go"), "package p\n")
		if body != "" {
			write(t, filepath.Join(dir, name, "p_test.go"), "package p\n\nimport \"testing\"\n\n"+body)
		}
	}
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	events, _ := cmd.Output() // a failing test is part of the matter
	var b bytes.Buffer
	code = run(bytes.NewReader(events), &b, &b, show)
	return code, b.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func TestGreenRunEndsWithGoTestsOwnLine(t *testing.T) {
	code, out := judge(t, "^$", map[string]string{"a": `func TestA(t *testing.T) { t.Log("quiet") }`})
	if code != 0 || !strings.HasPrefix(lastLine(out), "ok  \tm/a\t") || strings.Contains(out, "quiet") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestSkipFailsTheRun(t *testing.T) {
	code, out := judge(t, "^$", map[string]string{"a": "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { t.Skip(\"no tmux\") }"})
	if code != 1 || !strings.Contains(out, "TestB was skipped") || lastLine(out) != "FAIL" {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestPackageWithoutATestFailsTheRun(t *testing.T) {
	for name, body := range map[string]string{"no file": "", "no test": "var _ testing.TB"} {
		code, out := judge(t, "^$", map[string]string{"a": body, "b": "func TestB(t *testing.T) {}"})
		if code != 1 || !strings.Contains(out, "m/a\t[no test ran]") {
			t.Errorf("%s: exit %d:\n%s", name, code, out)
		}
	}
}

func TestFailureShowsItsOutput(t *testing.T) {
	code, out := judge(t, "^$", map[string]string{"a": `func TestA(t *testing.T) { t.Run("sub", func(t *testing.T) { t.Error("because") }) }`})
	if code != 1 || !strings.Contains(out, "because") || !strings.Contains(out, "--- FAIL: TestA/sub") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestWhatDoesNotBuildIsShown(t *testing.T) {
	code, out := judge(t, "^$", map[string]string{"a": "func TestA(t *testing.T) { undefined() }"})
	if code != 1 || !strings.Contains(out, "undefined: undefined") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// A process that leaves in the middle never says how its test ended.
func TestUnfinishedTestIsShown(t *testing.T) {
	events := `{"Action":"output","Package":"m/a","Test":"TestA","Output":"last words\n"}
{"Action":"fail","Package":"m/a"}`
	var b bytes.Buffer
	if code := run(strings.NewReader(events), &b, &b, "^$"); code != 1 || !strings.Contains(b.String(), "last words") {
		t.Errorf("exit %d: %s", code, &b)
	}
}

func TestNothingTestedIsAFailure(t *testing.T) {
	var b bytes.Buffer
	if code := run(strings.NewReader(""), &b, &b, "^$"); code != 1 {
		t.Errorf("exit %d: %s", code, &b)
	}
}

func TestShowPrintsTablesOfPassingTests(t *testing.T) {
	code, out := judge(t, `\| `, map[string]string{"a": `func TestA(t *testing.T) { t.Log("| 100 | 0 |") }`})
	if code != 0 || !strings.Contains(out, "| 100 | 0 |") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}
