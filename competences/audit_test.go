package competences

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportsAreRepaired: a torn last line is cut, missing lines are appended,
// what stands before is not touched.
func TestExportsAreRepaired(t *testing.T) {
	home := t.TempDir()
	f := start(t, home, Settings{})
	for range 3 {
		if _, err := f.PersistLocal(bg, body("M1", "Nom "+persistID(), persistID(), m{"learning_metadata.partial": true, "learning_metadata.dropout_reason": "x"})); err != nil {
			t.Fatal(err)
		}
	}
	f.stop()
	for _, name := range []string{auditFile, incompleteFile} {
		path := filepath.Join(home, Folder, name)
		whole, _ := os.ReadFile(path)
		for cut := range []int{0, 1, 17, len(whole) / 3, len(whole) / 2, len(whole) - 1} {
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := boot(home, Settings{})
			if err == nil {
				err = f.Recover(bg)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.sound(t)
			if again, _ := os.ReadFile(path); string(again) != string(whole) {
				t.Errorf("%s cut at %d was not repaired", name, cut)
			}
			f.stop()
		}
	}
	// a line changed by hand is reported and left alone
	path := filepath.Join(home, Folder, auditFile)
	whole, _ := os.ReadFile(path)
	changed := strings.Replace(string(whole), "M1", "MX", 1)
	_ = os.WriteFile(path, []byte(changed), 0o600)
	f = start(t, home, Settings{})
	if err := f.Recover(bg); err != nil {
		t.Error(err)
	}
	problems, _ := f.CheckExports(bg)
	if after, _ := os.ReadFile(path); len(problems) != 1 || problems[0].Line != 1 || string(after) != changed {
		t.Errorf("%v", problems)
	}
}

// TestExportThatFailedIsCaughtUp: a persist is kept although its export cannot
// be written, and the next one writes both lines.
func TestExportThatFailedIsCaughtUp(t *testing.T) {
	for _, name := range []string{auditFile, incompleteFile} {
		f := start(t, t.TempDir(), Settings{})
		path := filepath.Join(f.home, Folder, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := f.PersistLocal(bg, body("M1", "Sans export", persistID(), partialEvery(0))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if problems, err := f.CheckExports(bg); err == nil && len(problems) == 0 {
			t.Errorf("%s: nobody sees that it is missing", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := f.PersistLocal(bg, body("M1", "Avec export", persistID())); err != nil {
			t.Fatal(err)
		}
		f.sound(t)
	}
}

// TestTwoWritersShareTheExports: each finds the other's lines at the end.
func TestTwoWritersShareTheExports(t *testing.T) {
	home := t.TempDir()
	writers := []*fixture{start(t, home, Settings{}), start(t, home, Settings{})}
	for i := range 12 {
		f := writers[i/2%2]
		if _, err := f.PersistLocal(bg, body(fmt.Sprintf("M%d", i%3), fmt.Sprintf("Tour %d", i), persistID(), partialEvery(i))); err != nil {
			t.Fatal(err)
		}
	}
	if got, half := lineCount(t, writers[0], auditFile), lineCount(t, writers[0], incompleteFile); got != 12 || half != 3 {
		t.Errorf("%d audit lines, %d incomplete", got, half)
	}
	writers[1].sound(t)
}
