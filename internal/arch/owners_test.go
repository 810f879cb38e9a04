package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// owner says which rooms may import a module, and why no other.
type owner struct {
	path  string // import path or its beginning
	rooms []string
	why   string
}

// Third-party modules. Each has one owner, so that replacing it is one change.
var modules = []owner{
	{"github.com/mattn/go-sqlite3", []string{"internal/sqlite"}, "its pragmas, locks and errors are handled in one place"},
	{"github.com/gofrs/flock", []string{"notifyd"}, "the daemon's lock is the only one that outlives a function"},
	{"github.com/fsnotify/fsnotify", []string{"internal/watch"}, "lost events are healed by sweeps that only watch explains"},
	{"gopkg.in/yaml.v3", []string{"internal/strictyaml"}, "foreign YAML is bounded before it is parsed (RELIABILITY 12)"},
	{"github.com/urfave/cli/v2", []string{"cmd/arkamsg"}, "flags are the program's business"},
	{"github.com/lmittmann/tint", []string{"cmd/arkamsg"}, "one logger, made where the program begins"},
	{"github.com/mattn/go-isatty", []string{"cmd/arkamsg"}, "only the door knows whether a person looks"},
	{"github.com/prometheus/client_golang", []string{"internal/httpapi"}, "metrics are a door; keepers count in the journal"},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"competences", "internal/httpapi/openapitest"},
		"one schema engine: for competences, and for checking our own answers"},
	{"github.com/oklog/ulid/v2", []string{"messaging"}, "ids are made where messages are"},
	{"github.com/coreos/go-systemd/v22", []string{"cmd/arkamsg", "notifyd"}, "readiness is told by who knows it"},
	{"golang.org/x/text", []string{"internal/plaintext", "messaging", "competences"}, "text is folded only where it becomes a name"},
	{"golang.org/x/term", []string{"cmd/arkamsg", "internal/standin"}, "the keepers have no terminal"},
	{"golang.org/x/crypto", []string{"internal/clients", "jobs"}, "secrets are handled where they are kept"},
	{"golang.org/x/sys", nil, "system calls that the standard library lacks"},
	{"golang.org/x/sync", nil, "errgroup"},
}

// Modules that only tests may import.
var testModules = []owner{
	{"pgregory.net/rapid", nil, "random interleavings"},
	{"github.com/google/go-cmp", nil, "differences that can be read"},
	{"github.com/rogpeppe/go-internal", nil, "scripts"},
}

// Parts of the standard library that can do harm, and who may.
var dangerous = []owner{
	{"os/exec", []string{"sessions", "internal/lab", "internal/standin", "internal/demo", "doctor", "capabilities", "jobs", "cmd/arkamsg"},
		"every program we start has a deadline and a process group; keepers of data start none"},
	{"net/http", []string{"internal/httpapi", "internal/mcpserver", "internal/web", "doctor", "jobs", "capabilities", "cmd/arkamsg"},
		"keepers do not speak HTTP"},
}

func covers(path, p string) bool { return p == path || strings.HasPrefix(p, path+"/") }

func ownerOf(list []owner, p string) (owner, bool) {
	i := slices.IndexFunc(list, func(o owner) bool { return covers(o.path, p) })
	if i < 0 {
		return owner{}, false
	}
	return list[i], true
}

func (o owner) allows(folder string) bool {
	return o.rooms == nil || slices.ContainsFunc(o.rooms, func(r string) bool { return within(folder, r) })
}

// thirdParty: the first element of the path has a dot, as in a host's name.
func thirdParty(p string) bool {
	host, _, _ := strings.Cut(p, "/")
	return strings.Contains(host, ".")
}

func TestModulesHaveOneOwner(t *testing.T) {
	for _, s := range sources(t) {
		for _, p := range s.imports() {
			if thirdParty(p) {
				checkModule(t, s, p)
			}
		}
	}
}

func checkModule(t *testing.T, s source, p string) {
	t.Helper()
	if _, ok := ownerOf(testModules, p); ok {
		if !s.test {
			t.Errorf("%s imports %s: only tests may", s.path, p)
		}
		return
	}
	o, ok := ownerOf(modules, p)
	switch {
	case !ok:
		t.Errorf("%s imports %s, which has no owner: name one in internal/arch/owners_test.go, with the reason", s.path, p)
	case !s.test && !o.allows(s.folder):
		t.Errorf("%s imports %s, which belongs to %s: %s", s.path, p, strings.Join(o.rooms, ", "), o.why)
	}
}

func TestDangerousPartsStayWhereTheyAreWatched(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, p := range s.imports() {
			if o, ok := ownerOf(dangerous, p); ok && !o.allows(s.folder) {
				t.Errorf("%s imports %s, which is for %s: %s", s.path, p, strings.Join(o.rooms, ", "), o.why)
			}
		}
	}
}

var required = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+|\S+\.\S+) v\d\S*$`)

// A direct requirement that nobody imports, or that has no owner, is left over.
func TestGoModNamesOnlyWhatHasAnOwner(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range required.FindAllStringSubmatch(string(text), -1) {
		_, main := ownerOf(modules, m[1])
		_, test := ownerOf(testModules, m[1])
		if !main && !test {
			t.Errorf("go.mod requires %s directly, which has no owner in internal/arch/owners_test.go", m[1])
		}
	}
}
