package sessions_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// issued collects every tmux subcommand that the package issued in this run.
var issued struct {
	sync.Mutex
	verbs map[string]int
}

func record(verbs []string) {
	issued.Lock()
	defer issued.Unlock()
	for _, v := range verbs {
		issued.verbs[v]++
	}
}

// TestMain lets the test binary play the agent, and at the end asserts that the
// whole suite used nothing but the closed list: attach-only.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "standin" {
		os.Exit(standin.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == "deliver" {
		os.Exit(deliverMain(os.Args[2:]))
	}
	issued.verbs = map[string]int{}
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // they wait for screens, not for the processor
	code := m.Run()
	for v := range issued.verbs {
		if !slices.Contains(sessions.Verbs, v) {
			fmt.Fprintf(os.Stderr, "FAIL: tmux %s was issued\n", v)
			code = 1
		}
	}
	os.Exit(code)
}

// TestListIsHarmless: the closed list itself holds nothing that makes, names,
// moves, sizes, ends or re-modes what is the user's, or runs a program.
func TestListIsHarmless(t *testing.T) {
	harm := regexp.MustCompile(`^(new|kill|rename|resize|respawn|split|swap|move|join|break|link|unlink|select|switch|attach|detach|` +
		`rotate|pipe|source|run|bind|unbind|copy|clock|choose|confirm|command|customize|display-(menu|panes|popup)|lock|start|suspend|` +
		`next|previous|last|set-(environment|hook|window)|clear|set-buffer|save-buffer|wait)`)
	for _, v := range sessions.Verbs {
		if harm.MatchString(v) {
			t.Errorf("%s is on the list", v)
		}
	}
}
