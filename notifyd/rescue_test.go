package notifyd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arkamsg/internal/errkind"
)

// A journal that is taken away under a running daemon: the daemon ends and names
// it, and what was accepted is saved under a name that the error tells. Put back
// as the error says, nothing is missing.
func TestJournalTakenAwayIsRescued(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"deleted": os.Remove,
		"swapped": func(p string) error {
			return os.Rename(p, p+".away")
		},
		"emptied by a copy": func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.WriteFile(p, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, "PMO")
			d := s.start(shortLease)
			s.push("LD", "PMO", "m1")
			s.reaches("m1", "delivered", "")
			s.check(take(s.home.Journal()))
			err := d.ends()
			if errkind.Of(err) != errkind.Damaged || !strings.Contains(err.Error(), s.home.Journal()) {
				t.Fatalf("ended with %v", err)
			}
			saved, _ := filepath.Glob(filepath.Join(string(s.home), "journal-rescued-*.db"))
			if len(saved) != 1 || !strings.Contains(errkind.Hint(err), filepath.Base(saved[0])) {
				t.Fatalf("saved in %v; told %q", saved, errkind.Hint(err))
			}
			if _, err := s.room.Send(t.Context(), draft("LD", "PMO", "m2")); errkind.Of(err) != errkind.Damaged {
				t.Errorf("accepted without a journal: %v", err)
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(s.home.Journal() + suffix)
			}
			s.check(os.Rename(saved[0], s.home.Journal()))
			room := s.open()
			report, err := room.Journal.Verify(t.Context())
			s.check(err)
			s.check(report.Err())
			if rec, err := room.Journal.Get(t.Context(), "m1"); err != nil || rec.State != "delivered" {
				t.Errorf("%+v %v", rec, err)
			}
		})
	}
}
