package fault

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"arkamsg/internal/standin"
)

// scale is 0 for the short form and 1 for the long one (ARKA_LONG=1); a fraction
// runs a part of the long form. It is the only place that reads the variable.
var scale = sync.OnceValue(func() float64 {
	v := os.Getenv("ARKA_LONG")
	if f, err := strconv.ParseFloat(v, 64); err == nil && f > 0 && f < 1 {
		return f
	}
	return float64(min(1, len(v)))
})

func long() bool { return scale() > 0 }

// size is how often something is tried.
func size(short, extended int) int { return max(short, int(scale()*float64(extended))) }

// seed is one for the whole run; each scenario draws from its own stream of it,
// so that one scenario can be repeated alone.
var seed = sync.OnceValue(func() uint64 {
	if v, err := strconv.ParseUint(os.Getenv("ARKA_SEED"), 10, 64); err == nil {
		return v
	}
	return uint64(time.Now().UnixNano())
})

func seeded(scenario string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(scenario))
	return rand.New(rand.NewPCG(seed(), h.Sum64()))
}

// scratch holds the program while the tests run.
var scratch string

// TestMain lets the test binary play the agent and a daemon with a short lease.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "standin" {
		os.Exit(standin.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == "nurse" {
		os.Exit(nurseMain(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "daemon" {
		os.Exit(daemonMain(os.Args[2:]))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "4") // they wait for screens more than for the processor
	var err error
	if scratch, err = os.MkdirTemp("", "arkamsg-fault-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	results.print(os.Stdout)
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// table is what the run has to say for itself.
type table struct {
	sync.Mutex
	order []string
	rows  map[string]*verdict
}

var results = table{rows: map[string]*verdict{}}

func (t *table) add(scenario string, v verdict) {
	t.Lock()
	defer t.Unlock()
	if t.rows[scenario] == nil {
		t.rows[scenario] = &verdict{}
		t.order = append(t.order, scenario)
	}
	t.rows[scenario].add(v)
}

const columns = "| %-44s | %6v | %4v | %7v | %4v | %6v | %4v |"

func (v verdict) row(scenario string) string {
	return fmt.Sprintf(columns, scenario, v.tries, v.lost, v.doubled, v.torn, v.merged, v.lies)
}

func (t *table) print(out *os.File) {
	t.Lock()
	defer t.Unlock()
	if len(t.order) == 0 {
		return
	}
	fmt.Fprintf(out, columns+"\n", "scenario", "tries", "lost", "doubled", "torn", "merged", "lies")
	for _, name := range t.order {
		fmt.Fprintln(out, t.rows[name].row(name))
	}
	fmt.Fprintf(out, "seed %d (ARKA_SEED repeats it)\n", seed())
}

// eventually polls until the condition holds and reports whether it did.
func eventually(patience time.Duration, condition func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		if condition() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// notice looks at every source of the program, so that a cached test result
// does not outlive a change of a package that only the built binary holds.
func notice(root string) error {
	return filepath.WalkDir(root, func(name string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".go" {
			_, err = os.Stat(name)
		}
		return err
	})
}
