package competences

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// BenchmarkPersist measures persists and the bare file operations that they
// need (temp, fsync, link, unlink, fsync folder, append a line, fsync), turn by
// turn in one run, and reports the ratio of the medians. The journal is at
// synchronous=FULL.
func BenchmarkPersist(b *testing.B) {
	home := b.TempDir()
	f, err := boot(home, Settings{PerMinute: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer f.stop()
	p := f.machine(b, "M1")
	bare := b.TempDir()
	line, err := os.OpenFile(bare+"/audit.jsonl", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer line.Close()
	var ours, files []time.Duration
	for i := range b.N {
		raw := body("M1", fmt.Sprintf("Mesure %d", i), persistID())
		ours = append(ours, timed(func() error { _, err := f.Persist(bg, p, raw); return err }, b))
		files = append(files, timed(func() error { return bareFiles(bare, i, line) }, b))
	}
	b.ReportMetric(float64(median(ours).Microseconds()), "µs/persist(p50)")
	b.ReportMetric(float64(median(files).Microseconds()), "µs/bare(p50)")
	b.ReportMetric(float64(median(ours))/float64(median(files)), "×bare")
}

func timed(f func() error, b *testing.B) time.Duration {
	at := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(at)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// bareFiles writes a file of a competence's size and an audit line, durably.
func bareFiles(dir string, i int, audit *os.File) error {
	temp, name := fmt.Sprintf("%s/.%d.tmp", dir, i), fmt.Sprintf("%s/%d.yaml", dir, i)
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 1100)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, step := range []func() error{f.Sync, func() error { return os.Link(temp, name) }, func() error { return os.Remove(temp) }, d.Sync,
		func() error { _, err := audit.Write(append(make([]byte, 500), '\n')); return err }, audit.Sync} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
