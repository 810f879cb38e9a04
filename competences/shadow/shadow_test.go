package shadow

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"arkamsg/competences/primitives"
	"arkamsg/competences/refusal"
	"arkamsg/internal/clients"
	"arkamsg/internal/sqlite"
)

type m = map[string]any

// ev builds events from "type:argument@t".
func ev(specs ...string) (out []Event) {
	for _, s := range specs {
		at := strings.LastIndexByte(s, '@')
		typ, arg, _ := strings.Cut(s[:at], ":")
		e := Event{Type: typ}
		fmt.Sscan(s[at+1:], &e.T)
		x, y := 10.0, 20.5
		switch typ {
		case "key":
			keys := strings.Split(arg, "+")
			e.Key, e.Modifiers = keys[len(keys)-1], keys[:len(keys)-1]
		case "text":
			e.Text = arg
		case "click", "move":
			e.X, e.Y, e.Text = &x, &y, arg
		case "open", "focus", "close":
			e.Type, e.Action, e.Window = "window", typ, m{"title": arg}
		case "scroll":
			fmt.Sscan(arg, &e.DY)
		case "launch":
			e.App = arg
		}
		out = append(out, e)
	}
	return out
}

func kinds(f *folder) string {
	var out []string
	for _, s := range f.steps {
		data, _ := json.Marshal(s.Params)
		out = append(out, s.Kind+string(data))
	}
	return strings.Join(out, " ")
}

func TestHonestRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"keys fold", ev("key:B@0", "key:o@50", "key:n@90", "key:Space@95", "key:shift+J@99"), `type_text{"text":"Bon J"}`},
		{"backspace", ev("key:a@0", "key:é@1", "key:Backspace@2", "key:b@3"), `type_text{"text":"ab"}`},
		{"backspace alone", ev("key:Backspace@2"), `key_combo{"keys":["Backspace"]}`},
		{"enter ends a text", ev("key:a@0", "key:Enter@1", "key:b@2"), `type_text{"text":"a"} key_combo{"keys":["Enter"]} type_text{"text":"b"}`},
		{"repeats are counted", ev("key:Tab@0", "key:Tab@1", "key:Tab@2"), `key_combo{"keys":["Tab"],"repeat":3}`},
		{"win r", ev("key:win+r@0", "open:Exécuter@700", "text:explorer.exe@800"), `key_combo{"keys":["win","r"]} wait_window{"window":{"title":"Exécuter"}} type_text{"text":"explorer.exe"}`},
		{"copy and paste", ev("key:ctrl+c@0", "key:ctrl+v@1", "key:ctrl+s@2"), `copy{} paste{} key_combo{"keys":["ctrl","s"]}`},
		{"a pause is a wait", ev("key:a@0", "key:b@1400", "key:c@3100"), `type_text{"text":"ab"} wait_ms{"ms":1700} type_text{"text":"c"}`},
		{"a pause before a window", ev("launch:w@0", "open:Word@2000"), `launch_app{"app":"w"} wait_window{"timeout_ms":6000,"window":{"title":"Word"}}`},
		{"a long pause is a person", ev("key:a@0", "key:b@60000"), `type_text{"text":"a"} human_pause{"duration_ms":60000} type_text{"text":"b"}`},
		{"moves vanish", ev("move@0", "move@5000", "click:OK@5100"), `click{"target":{"text":"OK","x":10,"y":20.5}}`},
		{"scroll adds up", ev("scroll:3@0", "scroll:4@9"), `scroll{"dx":0,"dy":7}`},
		{"nothing", nil, ``},
	} {
		if got := kinds(fold(c.events)); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestEveryStepIsAPrimitive: whatever happens, what is built can be persisted.
func TestEveryStepIsAPrimitive(t *testing.T) {
	reg := primitives.Default()
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		var now int64
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			now += rapid.SampledFrom([]int64{0, 40, 1500, 2999, 31_000, 9_000_000}).Draw(t, "gap")
			spec := rapid.SampledFrom([]string{"key:a", "key:Backspace", "key:ctrl+v", "key:Tab", "text:abc", "click:", "move", "open:W", "focus:W", "close:W", "scroll:9000", "launch:x"}).Draw(t, "event")
			events = append(events, ev(fmt.Sprintf("%s@%d", spec, now))...)
		}
		f := fold(events)
		for _, s := range f.steps {
			if problems := reg.Check(primitives.Kind(s.Kind), s.Params, nil); !reg.Known(primitives.Kind(s.Kind)) || problems != nil {
				t.Fatalf("%+v: %v", s, problems)
			}
		}
		if !reflect.DeepEqual(f.steps, fold(events).steps) {
			t.Fatal("the same events gave other steps")
		}
	})
}

func TestRepeatedValuesAreProposedAndFeedbackDecides(t *testing.T) {
	events := ev("text:Dupond@0", "key:Tab@1", "text:Dupond@2", "click:@3", "text:once@4")
	s := Session{ID: "x", State: "stopped"}
	u, err := Understand(s, events, nil)
	if err != nil || len(u.Parameters) != 1 || !u.Parameters[0].Proposed || fmt.Sprint(u.Parameters[0].Steps) != "[s1 s3]" {
		t.Fatalf("%+v %v", u, err)
	}
	before, _ := Build(s, u)
	if len(before.Parameters) != 0 {
		t.Error("a proposal was built without anybody's yes")
	}
	u, err = Understand(s, events, [][]Change{
		{{Op: "parametrise", Step: "s1", Name: "nom"}, {Op: "rename", Step: "s4", Label: "valider"}},
		{{Op: "delete", Step: "s5"}, {Op: "annotate", Text: "saisir le nom"}, {Op: "annotate", Step: "s2", Text: "champ suivant"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if u.Steps[0].Params["text"] != "${nom}" || u.Steps[2].Params["text"] != "${nom}" || len(u.Steps) != 4 || u.Intent != "saisir le nom" || u.Steps[1].Note != "champ suivant" || u.Revision != 2 {
		t.Errorf("%+v", u)
	}
	after, _ := Build(s, u)
	again, _ := Build(s, u)
	if after.Hash == before.Hash || after.Hash != again.Hash || len(after.Parameters) != 1 {
		t.Errorf("%s %s %s", before.Hash, after.Hash, again.Hash)
	}
	for _, bad := range []Change{{Op: "delete", Step: "s9"}, {Op: "parametrise", Step: "s2", Name: "x"}, {Op: "parametrise", Step: "s1", Name: "nom"}} {
		if _, err := Understand(s, events, [][]Change{{{Op: "parametrise", Step: "s1", Name: "nom"}, bad}}); refusal.Of(err) == nil || refusal.Of(err).Err.Problems[0].Field != "/changes/1" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// lab is a store with one machine.
type lab struct {
	*Store
	p       clients.Principal
	other   clients.Principal
	clients *clients.Store
}

func open(t *testing.T, path string) lab {
	t.Helper()
	ctx := context.Background()
	db, err := sqlite.Open(ctx, path, sqlite.Options{Sync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	cs, err := clients.Open(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, db, cs, nil)
	if err != nil {
		t.Fatal(err)
	}
	principal := func(machine string) clients.Principal {
		c, _, _ := cs.Add(ctx, clients.New{Name: machine, Kind: clients.Machine, MachineID: machine})
		g, _ := cs.Token(ctx, c.ID, 0)
		p, err := cs.Authenticate(ctx, g.AccessToken.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return lab{s, principal("M1"), principal("M2"), cs}
}

func js(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func batch(id string, seq int, events ...m) []byte {
	return js(m{"session_id": id, "seq": seq, "events": events})
}

func want(t *testing.T, err error, code refusal.Code) {
	t.Helper()
	if r := refusal.Of(err); r == nil || r.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

func TestSessionLife(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "journal.db")
	l := open(t, path)
	s, err := l.Start(ctx, l.p, js(m{"machine_id": "M1", "name": "Saisie", "intent_fr": "saisir"}))
	if err != nil || s.State != "open" || s.NextSeq != 1 {
		t.Fatalf("%+v %v", s, err)
	}
	_, err = l.Start(ctx, l.p, js(m{"machine_id": "M1"}))
	want(t, err, refusal.SessionOpen)
	_, err = l.Start(ctx, l.other, js(m{"machine_id": "M1"}))
	want(t, err, refusal.MachineMismatch)

	if s, err = l.Events(ctx, l.p, batch(s.ID, 1, m{"type": "key", "key": "a", "t": 5}, m{"type": "key", "key": "b", "t": 6})); err != nil || s.NextSeq != 3 {
		t.Fatalf("%+v %v", s, err)
	}
	_, err = l.Events(ctx, l.p, batch(s.ID, 1, m{"type": "key", "key": "a", "t": 7}))
	want(t, err, refusal.WrongSequence)
	if refusal.Of(err).Expected != 3 {
		t.Errorf("expected %d", refusal.Of(err).Expected)
	}
	_, err = l.Events(ctx, l.p, batch(s.ID, 3, m{"type": "key", "key": "a", "t": 1}))
	want(t, err, refusal.SchemaInvalid) // time falls
	_, err = l.Events(ctx, l.other, batch(s.ID, 3, m{"type": "key", "key": "a", "t": 9}))
	want(t, err, refusal.NotFound) // somebody else's
	_, err = l.Feedback(ctx, l.p, js(m{"session_id": s.ID, "revision": 0, "changes": []m{{"op": "delete", "step": "s1"}}}))
	want(t, err, refusal.SessionNotEnded)

	// a restart: another process opens the same file
	l2 := open(t, path)
	l2.p = l.p
	if s, err = l2.Events(ctx, l2.p, batch(s.ID, 3, m{"type": "key", "key": "c", "t": 7})); err != nil || s.NextSeq != 4 {
		t.Fatalf("after a restart: %+v %v", s, err)
	}
	for range 2 {
		if s, err = l2.Stop(ctx, l2.p, js(m{"session_id": s.ID})); err != nil || s.State != "stopped" {
			t.Fatal(err)
		}
	}
	_, err = l2.Events(ctx, l2.p, batch(s.ID, 4, m{"type": "key", "key": "c", "t": 9}))
	want(t, err, refusal.SessionClosed)
	if u, err := l2.Understanding(ctx, l2.p, s.ID); err != nil || len(u.Steps) != 1 || u.Steps[0].Params["text"] != "abc" {
		t.Errorf("%+v %v", u, err)
	}
	if u, err := l2.Feedback(ctx, l2.p, js(m{"session_id": s.ID, "revision": 0, "changes": []m{{"op": "rename", "step": "s1", "label": "x"}}})); err != nil || u.Revision != 1 {
		t.Errorf("%+v %v", u, err)
	}
	_, err = l2.Feedback(ctx, l2.p, js(m{"session_id": s.ID, "revision": 0, "changes": []m{{"op": "delete", "step": "s1"}}}))
	want(t, err, refusal.StaleRevision)
	if b, err := l2.Build(ctx, l2.p, js(m{"session_id": s.ID, "revision": 1})); err != nil || b.Revision != 1 || !strings.HasPrefix(b.Hash, "sha256:") {
		t.Errorf("%+v %v", b, err)
	}
	if _, err := l2.Start(ctx, l2.p, js(m{"machine_id": "M1"})); err != nil {
		t.Errorf("a stopped session blocks the next: %v", err)
	}
}

func TestBatchIsJudged(t *testing.T) {
	ctx := context.Background()
	l := open(t, filepath.Join(t.TempDir(), "journal.db"))
	s, _ := l.Start(ctx, l.p, js(m{"machine_id": "M1"}))
	many := make([]m, 501)
	for i := range many {
		many[i] = m{"type": "screenshot", "t": i}
	}
	for name, raw := range map[string][]byte{
		"501 events":    batch(s.ID, 1, many...),
		"no events":     batch(s.ID, 1),
		"unknown type":  batch(s.ID, 1, m{"type": "shell", "t": 1}),
		"unknown field": batch(s.ID, 1, m{"type": "key", "key": "a", "t": 1, "cmd": "x"}),
		"no key":        batch(s.ID, 1, m{"type": "key", "t": 1}),
		"no place":      batch(s.ID, 1, m{"type": "click", "t": 1, "x": 5}),
		"escape":        batch(s.ID, 1, m{"type": "text", "text": "a\x1b[2J", "t": 1}),
	} {
		_, err := l.Events(ctx, l.p, raw)
		if r := refusal.Of(err); r == nil || r.Code != refusal.SchemaInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := l.Events(ctx, l.p, batch(s.ID, 1, m{"type": "text", "text": "jean@chu.fr", "t": 1}))
	want(t, err, refusal.PIIDetected)
	if _, err := l.Events(ctx, l.p, batch(s.ID, 1, many[:500]...)); err != nil {
		t.Errorf("500 events: %v", err)
	}
}

// TestPersonalDataTypedKeyByKey is refused by the batch that completes it.
func TestPersonalDataTypedKeyByKey(t *testing.T) {
	ctx := context.Background()
	l := open(t, filepath.Join(t.TempDir(), "journal.db"))
	s, _ := l.Start(ctx, l.p, js(m{"machine_id": "M1"}))
	var err error
	seq := 1
	for i, r := range "0612345678" {
		_, err = l.Events(ctx, l.p, batch(s.ID, seq, m{"type": "key", "key": string(r), "t": i}))
		if err != nil {
			break
		}
		seq++
	}
	want(t, err, refusal.PIIDetected)
	if seq != 10 {
		t.Errorf("refused at event %d, want the 10th", seq)
	}
}

func TestRevokedTokenWritesNothing(t *testing.T) {
	ctx := context.Background()
	l := open(t, filepath.Join(t.TempDir(), "journal.db"))
	if err := l.clients.Revoke(ctx, l.p.ClientID); err != nil {
		t.Fatal(err)
	}
	_, err := l.Start(ctx, l.p, js(m{"machine_id": "M1"}))
	want(t, err, refusal.Unauthenticated)
}
