package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// event is one line of `go test -json` (go doc test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// test names one test; Name is empty for what belongs to the package itself.
type test struct{ Package, Name string }

// gate holds the output of tests that are still running: it is printed when
// they fail and forgotten when they pass.
type gate struct {
	out      io.Writer
	show     *regexp.Regexp
	output   map[test][]string
	ran      map[string]int
	packages int
	wrong    []string // closing lines that say what was wrong
}

func (g *gate) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			// Not an event: the go command itself is talking.
			fmt.Fprintln(g.out, lines.Text())
			continue
		}
		g.take(e)
	}
	return lines.Err()
}

func (g *gate) take(e event) {
	t := test{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(g.out, e.Output)
	case "output":
		g.hear(t, e.Output)
	case "pass", "fail", "skip":
		g.end(t, e.Action)
	}
}

// hear prints a package's closing line at once and keeps the rest.
func (g *gate) hear(t test, line string) {
	switch {
	case t.Name == "" && closing.MatchString(line):
		fmt.Fprint(g.out, line)
	case g.show.String() != "^$" && g.show.MatchString(line):
		fmt.Fprint(g.out, line)
	case !noise.MatchString(line):
		g.output[t] = append(g.output[t], line)
	}
}

var (
	closing = regexp.MustCompile(`^(ok  |FAIL|\?   )\t`)
	noise   = regexp.MustCompile(`^(=== |PASS\n|testing: warning: no tests to run|\s+--- PASS|--- PASS|FAIL\n)`)
)

func (g *gate) end(t test, action string) {
	if action == "fail" {
		fmt.Fprint(g.out, strings.Join(g.output[t], ""))
	}
	delete(g.output, t)
	if t.Name == "" {
		g.endPackage(t.Package, action)
		return
	}
	switch action {
	case "skip":
		g.blame("%s\t[%s was skipped]", t.Package, t.Name)
	case "pass":
		g.ran[t.Package]++
	}
}

func (g *gate) endPackage(name, action string) {
	g.packages++
	if action == "fail" {
		g.unfinished(name)
	}
	switch {
	case action == "fail":
		g.blame("%s", name)
	case g.ran[name] == 0:
		g.blame("%s\t[no test ran]", name)
	}
}

// unfinished prints what tests said that never ended: a panic or a time-out.
func (g *gate) unfinished(name string) {
	for t, lines := range g.output {
		if t.Package == name {
			fmt.Fprint(g.out, strings.Join(lines, ""))
			delete(g.output, t)
		}
	}
}

func (g *gate) blame(format string, args ...any) {
	g.wrong = append(g.wrong, "FAIL\t"+fmt.Sprintf(format, args...))
}

// verdict prints, last, everything that makes the run worthless.
func (g *gate) verdict() bool {
	if g.packages == 0 {
		g.blame("[no package was tested]")
	}
	for _, line := range g.wrong {
		fmt.Fprintln(g.out, line)
	}
	if len(g.wrong) > 0 {
		fmt.Fprintln(g.out, "FAIL")
	}
	return len(g.wrong) == 0
}
