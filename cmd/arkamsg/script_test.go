package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"arkamsg": main,
		"codex":   main, // the stand-in agent, under the name of an agent's program
	})
}

// TestScripts runs the manual: each script under testdata/script opens with the
// reason it exists. They see a home and a tmux server of their own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Deadline:           time.Now().Add(3 * time.Minute),
		Setup: func(env *testscript.Env) error {
			env.Setenv("ARKA_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("ARKA_TMUX_SOCKET", filepath.Join(env.WorkDir, "tmux"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a second per process otherwise
			env.Setenv("LANG", "C.UTF-8")
			env.Defer(func() { stopAll(env) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agent":      agent,
			"pane":       pane,
			"eventually": eventually,
			"sql":        statement,
			"mark":       mark,
			"fail":       fail,
			"request":    request,
			"field":      field,
		},
	})
}

// stopAll ends the script's tmux server, if it started one; a script that stopped
// a process wrote its number to a file, and may have failed before it woke it.
func stopAll(env *testscript.Env) {
	_ = exec.Command("sh", "-c", `cat "$0"/*.pid 2>/dev/null | xargs -r -n 1 kill -CONT`, env.WorkDir).Run()
	_ = exec.Command("tmux", "-S", env.Getenv("ARKA_TMUX_SOCKET"), "kill-server").Run()
}

// agent NAME [ARG...] opens a tmux session with a stand-in agent in it.
func agent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: agent NAME [standin-args]")
	}
	argv := append([]string{"-u", "-f", os.DevNull, "new-session", "-d", "-s", args[0], "-x", "110", "-y", "24",
		"--", lookPath(ts, "codex"), "standin"}, args[1:]...)
	if out, err := tmux(ts, argv...); err != nil {
		ts.Fatalf("tmux: %v\n%s", err, out)
	}
}

func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); exec.Command("test", "-x", path).Run() == nil {
			return path
		}
	}
	ts.Fatalf("%s is not on PATH", name)
	return ""
}

// eventually PATTERN PROGRAM [ARG...] runs the program until its output matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN PROGRAM [ARG...]")
	}
	want := regexp.MustCompile(args[0])
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if want.MatchString(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("never matched %q; last: %v\n%s", args[0], err, out)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// pane NAME FILE keeps what a person would see there.
func pane(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pane NAME FILE")
	}
	out, err := tmux(ts, "capture-pane", "-p", "-J", "-t", "="+args[0]+":")
	if err != nil {
		ts.Fatalf("tmux: %v\n%s", err, out)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out), 0o600))
}

// sql STATEMENT runs it on the journal, as somebody with an SQLite shell would.
func statement(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sql STATEMENT")
	}
	db, err := sqlite.Open(context.Background(), filepath.Join(ts.Getenv("ARKA_HOME"), "journal.db"), sqlite.Options{})
	ts.Check(err)
	err = db.Write(context.Background(), func(tx *sqlite.Tx) error { _, err := tx.Exec(args[0]); return err })
	ts.Check(errors.Join(err, db.Close()))
}

// mark SESSION ID leaves the mark of a submitted message in the session's pane,
// as a delivery that nobody recorded would.
func mark(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mark SESSION ID")
	}
	j, err := journal.Open(context.Background(), ts.Getenv("ARKA_HOME"), journal.Options{ReadOnly: true})
	ts.Check(err)
	rec, err := j.Get(context.Background(), journal.MessageID(args[1]))
	ts.Check(errors.Join(err, j.Close()))
	out, err := tmux(ts, "set-option", "-p", "-t", "="+args[0]+":", fmt.Sprintf("@arkamsg_%s_%d", j.ID(), rec.ID), "s1")
	if err != nil {
		ts.Fatalf("tmux: %v\n%s", err, out)
	}
}

func tmux(ts *testscript.TestScript, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", ts.Getenv("ARKA_TMUX_SOCKET")}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "LANG=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n") + "\n", err
}
