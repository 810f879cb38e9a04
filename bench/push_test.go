package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkPush is a push as a script does it, from the start of the process to
// its end, beside the sqlite3 shell that inserts the same envelope durably. The
// bound is 2 times the shell.
func BenchmarkPush(b *testing.B) {
	bin, home := program(b), string(idleHome(b))
	db := shellDatabase(b)
	var ours, file, shell sample
	n := 0
	for b.Loop() {
		n++
		body, err := envelope(fmt.Sprint("env-", n), "PMO").JSON()
		check(b, err)
		ours.time(func() { run(b, string(body), bin, "--home", home, "push", "--envelope", "-") })
		shell.time(func() { run(b, insertion(n, string(body)), "sqlite3", "-bail", db) })
		file.time(func() {
			run(b, "", bin, "--home", home, "push", "--from", "LD", "--to", "PMO", "--subject", "plan", "--message", "ready to read")
		})
	}
	quietly(b)
	ours.report(b, 0.5, "ms/envelope")
	file.report(b, 0.5, "ms/message-file")
	shell.report(b, 0.5, "ms/shell")
	b.ReportMetric(ratio(ours, shell), "x-shell")
	b.ReportMetric(ratio(file, shell), "x-shell-file")
}

// shellDatabase has the columns of an event and is held open, as the home is.
func shellDatabase(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "shell.db")
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL")
	check(b, err)
	b.Cleanup(func() { check(b, db.Close()) })
	_, err = db.Exec(`CREATE TABLE event(id INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
		lane TEXT NOT NULL, body BLOB NOT NULL, counter TEXT NOT NULL, test INTEGER NOT NULL, fact INTEGER NOT NULL,
		created_at INTEGER NOT NULL, hash BLOB NOT NULL) STRICT`)
	check(b, err)
	return path
}

func insertion(n int, body string) string {
	return fmt.Sprintf(`PRAGMA synchronous=FULL;
INSERT INTO event VALUES(%d,'env-%d','notify','pane:arka-bench-PMO-codex',CAST('%s' AS BLOB),'',0,0,%d,zeroblob(32));
`, n, n, strings.ReplaceAll(body, "'", "''"), n)
}
