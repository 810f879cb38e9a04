package sessions_test

import (
	"flag"
	"fmt"
	"os"
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
