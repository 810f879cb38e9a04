package strictyaml_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/strictyaml"
)

// Every bomb is refused in bounded time and memory. Bounds are generous (a
// loaded machine, the race detector); the naive way takes 10 s and more.
func TestBombsAreBounded(t *testing.T) {
	const mib = 1 << 20
	keys, large := 12_000, mib/8 // the race detector makes these slow
	if os.Getenv("ARKA_LONG") != "" {
		keys, large = 40_000, mib
	}
	repeat := func(s string) string { return strings.Repeat(s, (large-64)/len(s)) }
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"100 MB":          {"a: " + strings.Repeat("x", 100*mib), "larger than"},
		"many keys":       {manyKeys(keys), "more than 10000 nodes"},
		"flow items":      {"[" + repeat("a,") + "]", "more than 10000 nodes"},
		"deep flow":       {repeat("["), ""},
		"deep block":      {repeat("- "), ""},
		"deep but legal":  {strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "nested deeper than 32"},
		"deep maps":       {repeat("{a: "), ""},
		"question marks":  {repeat("? "), ""},
		"alias bomb":      {aliasBomb(), "aliases"},
		"many aliases":    {"a: &a x\nb: [" + repeat("*a,") + "]", ""},
		"comments":        {repeat("#\n") + "a", ""},
		"comment per key": {commentedKeys(keys / 2), "more than 10000 nodes"},
		"duplicates":      {repeat("a: 1\n"), "more than 10000 nodes"},
		"few duplicates":  {strings.Repeat("a: 1\n", 1000), "and 935 more problems"},
		"long key":        {strings.Repeat("k", mib-10) + ": 1\n", ""},
		"spaces":          {repeat(" "), ""},
		"line breaks":     {"a: |\n" + repeat("\n"), ""},
		"anchors":         {"[" + repeat("&a b,") + "]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			took, bytes, said := measure(c.text)
			t.Logf("%d kB input: %v, %d MB allocated", len(c.text)>>10, took.Round(time.Millisecond), bytes>>20)
			if took > 8*time.Second || bytes > 600*mib {
				t.Errorf("took %v and %d MB", took, bytes>>20)
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("said %.200q, want %q", said, c.want)
			}
			if len(said) > 16<<10 {
				t.Errorf("said %d bytes", len(said))
			}
		})
	}
}

func measure(text string) (time.Duration, uint64, string) {
	data := []byte(text)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime()
	_, problems := strictyaml.Parse(data, strictyaml.Limits{})
	took := cpuTime() - start
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc, fmt.Sprint(problems)
}

// cpuTime is what this process has used; how busy the machine is beside it does
// not matter.
func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

func commentedKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "# c\nk%d: 1 # d\n\n", i)
	}
	return b.String()
}

func aliasBomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1\n", "a: |2\n   x\n", "? [a]\n: b", "- &a b\n- *a", "\"\\e\": !!binary x", "a: {b: [c, {d: ~}]}\n...\n---\n", "%YAML 1.1\n---\n# c\na: 'x''y' # d\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, problems := strictyaml.Parse([]byte(text), strictyaml.Limits{})
		if (doc == nil) == (len(problems) == 0) {
			t.Fatal("neither a document nor a problem, or both")
		}
		if doc == nil {
			return
		}
		var v any
		if doc.Decode(&v) != nil || v == nil {
			return
		}
		written, err := strictyaml.Encode(v)
		if err != nil {
			return
		}
		if _, problems := strictyaml.Parse(written, strictyaml.Limits{MaxBytes: 8 << 20}); problems != nil {
			t.Fatalf("what was written is refused: %v\n%s", problems, written)
		}
	})
}
