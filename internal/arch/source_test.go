package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "arkamsg"

// source is one Go file of the program.
type source struct {
	path   string // slash-separated, from the top of the module
	folder string // its package's folder, "." for the top
	test   bool
	text   string
	syntax *ast.File
	files  *token.FileSet
}

// imports lists the import paths of the file.
func (s source) imports() []string {
	var out []string
	for _, spec := range s.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (s source) line(n ast.Node) int { return s.files.Position(n.Pos()).Line }

// top is the folder of go.mod, found from the test's own folder.
func top(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
}

var parsed struct {
	once  sync.Once
	files []source
	err   error
}

// sources parses every Go file of the module, once.
func sources(t *testing.T) []source {
	t.Helper()
	dir := top(t)
	parsed.once.Do(func() { parsed.files, parsed.err = readTree(dir) })
	if parsed.err != nil {
		t.Fatal(parsed.err)
	}
	if len(parsed.files) < 20 {
		t.Fatalf("only %d files were found in %s: these tests would prove nothing", len(parsed.files), dir)
	}
	return parsed.files
}

func readTree(dir string) (out []source, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && foreign(name, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		s, err := readSource(dir, name)
		out = append(out, s)
		return err
	})
	return out, err
}

// foreign folders hold no package of this module.
func foreign(name, base string) bool {
	if base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") {
		return true
	}
	_, err := os.Stat(filepath.Join(name, "go.mod"))
	return err == nil
}

func readSource(dir, name string) (source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return source{}, err
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		return source{}, err
	}
	rel = filepath.ToSlash(rel)
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{
		path: rel, folder: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"),
		text: string(text), syntax: syntax, files: files,
	}, err
}

// packages groups the files by folder.
func packages(t *testing.T) map[string][]source {
	t.Helper()
	byFolder := map[string][]source{}
	for _, s := range sources(t) {
		byFolder[s.folder] = append(byFolder[s.folder], s)
	}
	return byFolder
}
