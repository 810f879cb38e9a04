package competences

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"arkamsg/competences/refusal"
	"arkamsg/internal/clients"
	"arkamsg/journal"
)

// long asks for the full counts of the issue (make fault).
var long = os.Getenv("ARKA_LONG") == "1"

// fixture is a home with a journal, clients and a service.
type fixture struct {
	home    string
	journal *journal.Journal
	clients *clients.Store
	*Service
}

func start(t testing.TB, home string, set Settings) *fixture {
	t.Helper()
	f, err := bootSync(home, set, "off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.stop() })
	return f
}

// boot opens a home as the program does.
func boot(home string, set Settings) (*fixture, error) { return bootSync(home, set, "full") }

func bootSync(home string, set Settings, sync string) (*fixture, error) {
	ctx := bg
	j, err := journal.Open(ctx, home, journal.Options{Sync: sync})
	if err != nil {
		return nil, err
	}
	store, err := clients.Open(ctx, j.DB())
	if err != nil {
		return nil, err
	}
	if set.Agents == nil {
		set.Agents = []string{"t2a_v2_codeur", "autre_agent"}
	}
	s, err := Open(ctx, home, j, store, Options{Settings: set})
	if err != nil {
		return nil, err
	}
	return &fixture{home: home, journal: j, clients: store, Service: s}, nil
}

func (f *fixture) stop() {
	_ = f.Service.Close()
	_ = f.journal.Close()
}

// machine registers a machine and returns who it is to the service.
func (f *fixture) machine(t testing.TB, id string) clients.Principal {
	t.Helper()
	c, _, err := f.clients.Add(bg, clients.New{Name: id, Kind: clients.Machine, MachineID: id})
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.clients.Token(bg, c.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.clients.Authenticate(bg, g.AccessToken.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type m = map[string]any

var counter atomic.Int64

// persistID makes UUIDs v4 that no other test has.
func persistID() string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", counter.Add(1)) }

// body is a valid request; changes replace top-level fields, or dotted ones.
func body(machine, name, id string, changes ...m) []byte {
	b := m{"name": name, "machine_id": machine, "session_id": "sess_1",
		"workflow_ir":             m{"steps": []any{m{"kind": "type_text", "params": m{"text": "${texte}"}}}, "preconditions": []any{}, "success_marker": m{}},
		"parameters":              []any{m{"name": "texte", "type": "string", "required": true}},
		"annotations_semantiques": m{"intent_fr": "saisir le texte"},
		"learning_metadata":       m{"persist_id": id, "partial": false, "dropout_reason": nil, "source_phase": "shadow_build"}}
	for _, c := range changes {
		for path, v := range c {
			if outer, inner, ok := strings.Cut(path, "."); ok {
				sub := maps.Clone(b[outer].(m))
				sub[inner] = v
				b[outer] = sub
			} else {
				b[path] = v
			}
		}
	}
	data, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return data
}

func code(err error) refusal.Code {
	if r := refusal.Of(err); r != nil {
		return r.Code
	}
	if err != nil {
		return refusal.Code(err.Error())
	}
	return ""
}

// files lists everything below data/competences.
func (f *fixture) files(t testing.TB) []string {
	t.Helper()
	var out []string
	root := filepath.Join(f.home, Folder)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sound fails the test unless exports equal the audit, every competence reads,
// and no temporary file is left.
func (f *fixture) sound(t testing.TB) {
	t.Helper()
	if problems, err := f.CheckExports(bg); err != nil || len(problems) > 0 {
		t.Errorf("exports: %v %v", problems, err)
	}
	items, err := f.List(bg)
	if err != nil {
		t.Error(err)
	}
	for _, item := range items {
		if len(item.Problems) > 0 {
			t.Errorf("%s: %v", item.Path, item.Problems)
		}
	}
	for _, name := range f.files(t) {
		if strings.Contains(name, ".tmp") {
			t.Errorf("left behind: %s", name)
		}
	}
}

func lineCount(t testing.TB, f *fixture, name string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.home, Folder, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}
func newLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
