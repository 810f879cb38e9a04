package competences

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/sqlite"
)

// BenchmarkPersist measures persists and the bare operations that a persist
// cannot do without, turn by turn in one run, and reports the ratio of the
// medians. Bare are: a competence's bytes into a temporary file, fsync, link,
// unlink, fsync of the folder; a line appended to a JSONL file, fsync; and one
// commit of one row with an AUTOINCREMENT id (audit_entry_id) to an SQLite
// database of its own. Everything else is ours: authentication again, the
// checks, the second commit (the intent, before the file), history, reading
// back. Both databases are at synchronous=FULL. The three operations that write
// to files alone are reported beside it.
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
	db := bareDatabase(b, bare+"/audit.db")
	var ours, files, needed []time.Duration
	for i := range b.N {
		raw := body("M1", fmt.Sprintf("Mesure %d", i), persistID())
		ours = append(ours, timed(func() error { _, err := f.Persist(bg, p, raw); return err }, b))
		onFiles := timed(func() error { return bareFiles(bare, i, line) }, b)
		files = append(files, onFiles)
		needed = append(needed, onFiles+timed(func() error { return bareCommit(db) }, b))
	}
	b.ReportMetric(float64(median(ours).Microseconds()), "µs/persist(p50)")
	b.ReportMetric(float64(median(files).Microseconds()), "µs/files(p50)")
	b.ReportMetric(float64(median(needed).Microseconds()), "µs/bare(p50)")
	b.ReportMetric(float64(median(ours))/float64(median(needed)), "×bare")
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

func bareDatabase(b *testing.B, path string) *sqlite.DB {
	db, err := sqlite.Open(bg, path, sqlite.Options{Sync: "full"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	err = db.Write(bg, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`CREATE TABLE audit(id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL)`)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

func bareCommit(db *sqlite.DB) error {
	return db.Write(bg, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO audit(line) VALUES(?)`, strings.Repeat("x", 500))
		return err
	})
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
