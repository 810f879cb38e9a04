package competences

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arkamsg/competences/document"
	"arkamsg/journal"
)

// examined opens the home as doctor does, for reading only.
func examined(t *testing.T, home string) Examination {
	t.Helper()
	j, err := journal.Open(bg, home, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	x, err := Examine(bg, home, j)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestExamineFindsEachDamage and nothing where nothing is wrong.
func TestExamineFindsEachDamage(t *testing.T) {
	at := func(f *fixture, name string) string { return filepath.Join(f.home, Folder, name) }
	write := func(t *testing.T, name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		hurt  func(*testing.T, *fixture)
		tells string
	}{
		"nothing":         {func(*testing.T, *fixture) {}, ""},
		"a file is gone":  {func(_ *testing.T, f *fixture) { _ = os.Remove(at(f, "candidate/entiere.yaml")) }, "entiere: was kept"},
		"a broken file":   {func(t *testing.T, f *fixture) { write(t, at(f, "stable/autre.yaml"), "non: [") }, "stable/autre.yaml"},
		"a torn export":   {func(_ *testing.T, f *fixture) { _ = os.Truncate(at(f, auditFile), 40) }, auditFile + " (line 1): ends before"},
		"a dead writer":   {func(t *testing.T, f *fixture) { write(t, at(f, "candidate/.x.yaml.tmp.99999999"), "") }, "half written"},
		"a living writer": {func(t *testing.T, f *fixture) { write(t, at(f, "candidate/.x.yaml.tmp.1"), "") }, ""},
		"no folder":       {func(_ *testing.T, f *fixture) { _ = os.RemoveAll(filepath.Join(f.home, Folder)) }, "is not there"},
		"two folders": {func(t *testing.T, f *fixture) {
			if err := os.Link(at(f, "candidate/entiere.yaml"), at(f, "supervised/entiere.yaml")); err != nil {
				t.Fatal(err)
			}
		}, "stands in candidate as well"},
		"unlearned": {func(t *testing.T, f *fixture) {
			if err := f.Unlearn(bg, "entiere", "dom", "obsolète"); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"promoted": {func(t *testing.T, f *fixture) {
			if _, err := f.Promote(bg, "entiere", Promotion{To: document.Supervised, By: "dom", Successes: 3}); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, t.TempDir(), Settings{})
			for _, raw := range [][]byte{body("M1", "Entière", persistID()), body("M1", "À moitié", persistID(), partialEvery(0))} {
				if _, err := f.PersistLocal(bg, raw); err != nil {
					t.Fatal(err)
				}
			}
			c.hurt(t, f)
			f.stop()
			x := examined(t, f.home)
			var all []string
			for _, p := range x.Problems {
				all = append(all, p.String())
			}
			if got := strings.Join(all, "\n"); (c.tells == "") != (got == "") || !strings.Contains(got, c.tells) {
				t.Errorf("got %q, want %q in it", got, c.tells)
			}
		})
	}
}

// TestExamineWithoutCompetences: a home in which nobody ever learned anything.
func TestExamineWithoutCompetences(t *testing.T) {
	home := t.TempDir()
	j, err := journal.Open(bg, home, journal.Options{Sync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	if x := examined(t, home); len(x.Problems) > 0 || x.Competences+x.Audited > 0 {
		t.Errorf("%+v", x)
	}
}
