package arch

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An essay is at least this long: purpose, guarantees, and what happens on
// failure do not fit in fewer words.
const essayWords = 50

func TestEveryPackageTellsWhatItIsFor(t *testing.T) {
	for folder, files := range packages(t) {
		doc := ""
		for _, s := range files {
			switch {
			case s.test:
			case strings.HasSuffix(s.path, "/doc.go"):
				doc = s.syntax.Doc.Text()
			case s.syntax.Doc != nil && !strings.HasPrefix(s.syntax.Doc.Text(), "Code generated"):
				t.Errorf("%s has a package comment of its own: it belongs into doc.go", s.path)
			}
		}
		if n := len(strings.Fields(doc)); n < essayWords {
			t.Errorf("%s/doc.go has a package comment of %d words, want the essay (at least %d)", folder, n, essayWords)
		}
	}
}

var drawer = regexp.MustCompile(`(?i)(^|/|_)(utils?|common|helpers?|misc|stuff)(/|_test\.go$|\.go$|_)`)

func TestThereAreNoDrawers(t *testing.T) {
	for _, s := range sources(t) {
		if drawer.MatchString(s.path) {
			t.Errorf("%s: what is put into a drawer is not found again; name it after what it does", s.path)
		}
	}
}

func TestNothingRegistersItself(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s:%d: init() runs before main can decide; call it by name", s.path, s.line(f))
			}
		}
	}
}

const longest = 400

// Files that are longer for a reason: path → reason.
var long = map[string]string{}

func TestFilesStayShort(t *testing.T) {
	lines := map[string]int{}
	for _, s := range sources(t) {
		lines[s.path] = strings.Count(s.text, "\n")
		if !s.test && lines[s.path] > longest && long[s.path] == "" {
			t.Errorf("%s has %d lines: does something in it want a name of its own? If not, say why in internal/arch/shape_test.go", s.path, lines[s.path])
		}
	}
	for path := range long {
		if lines[path] <= longest {
			t.Errorf("%s is short again: take it off the list", path)
		}
	}
}

func TestNoTestSleeps(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" && isName(sel.X, "time") {
				t.Errorf("%s:%d: a sleep is a guess; wait for a signal or a condition", s.path, s.line(sel))
			}
			return true
		})
	}
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// A fuzz target without committed seeds checks nothing in an ordinary run.
func TestFuzzTargetsHaveSeeds(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !s.test || !strings.HasPrefix(f.Name.Name, "Fuzz") {
				continue
			}
			found++
			seeds := filepath.Join(top(t), filepath.FromSlash(s.folder), "testdata", "fuzz", f.Name.Name)
			if entries, err := os.ReadDir(seeds); err != nil || len(entries) == 0 {
				t.Errorf("%s: %s has no seeds in testdata/fuzz/%s", s.path, f.Name.Name, f.Name.Name)
			}
		}
	}
	if found == 0 {
		t.Error("no fuzz target was found")
	}
}

// Seeds of a target that is gone are never run, and nobody notices.
func TestSeedsHaveATarget(t *testing.T) {
	targets := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
				targets[s.folder+"/testdata/fuzz/"+f.Name.Name] = true
			}
		}
	}
	dir := top(t)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		rel = filepath.ToSlash(rel)
		if err == nil && d.IsDir() && strings.HasSuffix(filepath.ToSlash(filepath.Dir(rel)), "testdata/fuzz") && !targets[rel] {
			t.Errorf("%s holds seeds of no target", rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
