package bench

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart starts the daemon on a journal with a million delivered and ten
// thousand queued events: under 1 s until it is ready, and under 64 MB while its
// lanes wait for busy people.
func BenchmarkStart(b *testing.B) {
	home := yearsHome(b)
	var starts sample
	resident := 0
	for b.Loop() {
		d := startDaemon(b, home)
		starts = append(starts, d.start)
		resident = max(resident, mostResident(b, d, time.Second))
		d.stop()
	}
	quietly(b)
	starts.report(b, 0.5, "ms-to-ready")
	b.ReportMetric(float64(resident)/1024, "MB-resident")
}

// mostResident looks at a process for a while, in kB.
func mostResident(b *testing.B, d *daemon, during time.Duration) (most int) {
	b.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); <-tick.C {
		kb, err := strconv.Atoi(strings.TrimSpace(run(b, "", "ps", "-o", "rss=", "-p", strconv.Itoa(d.cmd.Process.Pid))))
		check(b, err)
		most = max(most, kb)
	}
	return most
}

// BenchmarkStatus is `arkamsg status --json` as a process on that journal: under
// 100 ms, and beside it the same on a home where nothing ever happened.
func BenchmarkStatus(b *testing.B) {
	home, bin := string(yearsHome(b)), program(b)
	fresh := string(newHome(b, b.TempDir(), filepath.Join(b.TempDir(), "no-tmux"), readers...))
	openJournal(b, fresh)
	var full, empty sample
	for b.Loop() {
		full.time(func() { run(b, "", bin, "--home", home, "status", "--json") })
		empty.time(func() { run(b, "", bin, "--home", fresh, "status", "--json") })
	}
	quietly(b)
	full.report(b, 0.5, "ms")
	full.report(b, 0.99, "ms-p99")
	empty.report(b, 0.5, "ms-empty")
	b.ReportMetric(ratio(full, empty), "x-empty")
}
