package journal

import (
	"fmt"
	"os"
)

// walAlarm is the size at which a WAL is no longer normal (RELIABILITY 15).
const walAlarm = 16 << 20

// Strain is something that does not work as it should although nothing is lost
// yet, and what helps.
type Strain struct{ What, Remedy string }

// Strains lists them. It looks at files only and by name: opening one of
// SQLite's own would drop its locks.
func (j *Journal) Strains() []Strain {
	var found []Strain
	if info, err := os.Lstat(j.db.Path() + "-wal"); err == nil && info.Size() > walAlarm {
		found = append(found, Strain{
			fmt.Sprintf("the write-ahead log has grown to %d MB, because a reader keeps it from being folded back", info.Size()>>20),
			"end what reads the journal for long (arkamsg events --follow, a backup), or restart the daemon"})
	}
	if !j.reserve.there() {
		found = append(found, Strain{
			"the disk reserve is used up: nothing new is accepted until there is room for it again",
			fmt.Sprintf("make room on the disk of %s", j.home)})
	}
	if s := j.opts.Sync; s == "normal" || s == "off" {
		found = append(found, Strain{
			fmt.Sprintf("journal.sync is %s: a power cut can lose what was accepted", s),
			"journal: {sync: full} in arka.yaml, then restart the daemon"})
	}
	return found
}
