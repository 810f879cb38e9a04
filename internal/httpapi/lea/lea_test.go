package lea_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arkamsg/competences"
	"arkamsg/competences/refusal"
	"arkamsg/competences/shadow"
	"arkamsg/internal/clients"
	"arkamsg/internal/httpapi"
	"arkamsg/internal/httpapi/lea"
	"arkamsg/internal/httpapi/openapitest"
	"arkamsg/internal/httpapi/wire"
	"arkamsg/journal"
)

type m = map[string]any

// door is a real HTTP server with real keepers behind it; every response is
// held against the document.
type door struct {
	t       *testing.T
	home    string
	url     string
	client  *http.Client
	clients *clients.Store
	service *competences.Service
	stop    func()
}

func open(t *testing.T, home string) *door {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	j, err := journal.Open(ctx, home, journal.Options{Sync: "off"})
	must(err)
	store, err := clients.Open(ctx, j.DB())
	must(err)
	service, err := competences.Open(ctx, home, j, store, competences.Options{Settings: competences.Settings{Agents: []string{"zeta", "t2a_v2_codeur"}}})
	must(err)
	watch, err := shadow.Open(ctx, j.DB(), store, service.Detector)
	must(err)
	handler := lea.New(lea.Deps{Competences: service, Shadow: watch, Clients: store})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, x := wire.NewExchange(r.Context())
		w.Header().Set(wire.CorrelationHeader, x.CorrelationID)
		handler.ServeHTTP(w, r.WithContext(ctx))
	}))
	d := &door{t: t, home: home, url: server.URL, clients: store, service: service,
		client: &http.Client{Transport: spec(t).Transport(t, http.DefaultTransport)}}
	stopped := false
	d.stop = func() {
		if !stopped {
			stopped = true
			server.Close()
			_ = service.Close()
			_ = j.Close()
		}
	}
	t.Cleanup(d.stop)
	return d
}

func spec(t *testing.T) *openapitest.Spec {
	t.Helper()
	fragment, err := lea.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := httpapi.Document("test", httpapi.Part{OpenAPI: fragment})
	if err != nil {
		t.Fatal(err)
	}
	s, err := openapitest.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// token registers a machine and returns its bearer and client id.
func (d *door) token(machine string) (string, string) {
	d.t.Helper()
	c, _, err := d.clients.Add(context.Background(), clients.New{Name: machine, Kind: clients.Machine, MachineID: machine})
	if err != nil {
		d.t.Fatal(err)
	}
	g, err := d.clients.Token(context.Background(), c.ID, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	return g.AccessToken.Reveal(), c.ID
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	raw    []byte
	m
}

func (a answer) code() string { return fmt.Sprint(a.m["code"]) }

// do sends a request; body is JSON text, or a value to encode, or nil.
func (d *door) do(method, path, token string, body any, headers ...string) answer {
	d.t.Helper()
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		data, _ = json.Marshal(b)
	}
	r, err := http.NewRequest(method, d.url+"/api/v1"+path, bytes.NewReader(data))
	if err != nil {
		d.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := d.client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	a.raw, _ = io.ReadAll(res.Body)
	if len(a.raw) > 0 {
		if err := json.Unmarshal(a.raw, &a.m); err != nil {
			d.t.Fatalf("%s %s: %v: %s", method, path, err, a.raw)
		}
	}
	return a
}

var serial int

func uuid() string {
	serial++
	return fmt.Sprintf("00000000-0000-4000-9000-%012x", serial)
}

func persistBody(machine, name string) m {
	return m{"name": name, "machine_id": machine, "session_id": "sess_1",
		"workflow_ir":       m{"steps": []any{m{"kind": "type_text", "params": m{"text": "${texte}"}}}},
		"learning_metadata": m{"persist_id": uuid()}}
}

const persistPath = "/lea/competences/candidate/persist"

func TestEveryCodeHasAStatus(t *testing.T) {
	if missing := lea.MissingStatuses(); len(missing) > 0 {
		t.Errorf("no status for %v", missing)
	}
}

// TestManualListsEveryCode: with the status that goes out.
func TestManualListsEveryCode(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/competences.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range refusal.Codes {
		if row := fmt.Sprintf("| %d | `%s` |", lea.Statuses[code], code); !strings.Contains(string(manual), row) {
			t.Errorf("docs/competences.md has no row %q", row)
		}
	}
}

func TestPersistCreatedThenReplayed(t *testing.T) {
	d := open(t, t.TempDir())
	token, _ := d.token("M1")
	body := persistBody("M1", "Saisir texte Word")
	first := d.do("POST", persistPath, token, body)
	again := d.do("POST", persistPath, token, body)
	if first.status != 201 || again.status != 200 || !bytes.Equal(first.raw, again.raw) {
		t.Fatalf("%d %s\n%d %s", first.status, first.raw, again.status, again.raw)
	}
	if first.header.Get("Idempotent-Replay") != "" || again.header.Get("Idempotent-Replay") != "true" || again.header.Get("Idempotent-Payload-Mismatch") != "" {
		t.Errorf("%v", again.header)
	}
	body["name"] = "Autre"
	if other := d.do("POST", persistPath, token, body); other.status != 200 || other.header.Get("Idempotent-Payload-Mismatch") != "true" || other.header.Get("Warning") == "" {
		t.Errorf("%d %v", other.status, other.header)
	}
	if got := d.do("GET", "/lea/competences/saisir_texte_word", token, nil); got.status != 200 || got.m["learning_state"] != "candidate" {
		t.Errorf("%d %s", got.status, got.raw)
	}
	if got := d.do("GET", "/lea/competences", token, nil); got.status != 200 || len(got.m["competences"].([]any)) != 1 {
		t.Errorf("%d %s", got.status, got.raw)
	}
}

// Seed §7, security: no_token_401, token_revoked_401, machine_id_mismatch_403,
// path_traversal; and the fixed order of the checks.
func TestOrderOfChecksOverHTTP(t *testing.T) {
	d := open(t, t.TempDir())
	token, _ := d.token("M1")
	revoked, id := d.token("M1")
	if err := d.clients.Revoke(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	big := `{"machine_id":"M1","x":"` + strings.Repeat("x", 1<<20) + `"}`
	traversal := persistBody("M1", "../../etc/passwd")
	unknownAgent := persistBody("M1", "Agent inconnu")
	unknownAgent["external_decision"] = m{"agent_id": "x"}
	pii := persistBody("M1", "Avec PII")
	pii["annotations_semantiques"] = m{"note": "jean.dupont@chu.fr"}
	for _, c := range []struct {
		name   string
		token  string
		body   any
		header []string
		status int
		code   string
	}{
		{"no token", "", big, []string{"Content-Type", "text/plain"}, 401, "UNAUTHENTICATED"},
		{"unknown token", "arkt_x", persistBody("M1", "Nom"), nil, 401, "UNAUTHENTICATED"},
		{"revoked token", revoked, persistBody("M1", "Nom"), nil, 401, "UNAUTHENTICATED"},
		{"media type before size", token, big, []string{"Content-Type", "text/plain"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		{"size before parsing", token, big, nil, 413, "PAYLOAD_TOO_LARGE"},
		{"broken", token, "{", nil, 400, "INVALID_JSON"},
		{"duplicate key", token, `{"machine_id":"M1","machine_id":"M1"}`, nil, 400, "INVALID_JSON"},
		{"no machine", token, m{}, nil, 400, "MACHINE_ID_MISSING"},
		{"other machine", token, persistBody("M2", "Nom"), nil, 403, "MACHINE_MISMATCH"},
		{"unknown field", token, m{"machine_id": "M1", "colour": 1}, nil, 400, "SCHEMA_INVALID"},
		{"path traversal", token, traversal, nil, 400, "NAME_INVALID"},
		{"unknown agent", token, unknownAgent, nil, 400, "AGENT_UNKNOWN"},
		{"personal data", token, pii, nil, 400, "PII_DETECTED"},
	} {
		a := d.do("POST", persistPath, c.token, c.body, c.header...)
		if a.status != c.status || a.code() != c.code || a.m["retryable"] != false || a.m["correlation_id"] == "" {
			t.Errorf("%s: %d %s", c.name, a.status, a.raw)
		}
		if c.code == "AGENT_UNKNOWN" && fmt.Sprint(a.m["valid"]) != "[t2a_v2_codeur zeta]" {
			t.Errorf("valid: %v", a.m["valid"])
		}
		if strings.Contains(string(a.raw), "dupont") {
			t.Errorf("%s repeats personal data", c.name)
		}
	}
}

// Seed §7: test_rate_limit_11th_call_429.
func TestRateLimitOverHTTP(t *testing.T) {
	d := open(t, t.TempDir())
	token, _ := d.token("M1")
	first := persistBody("M1", "Premier")
	d.do("POST", persistPath, token, first)
	for i := range 9 {
		if a := d.do("POST", persistPath, token, persistBody("M1", fmt.Sprintf("Nom %d", i))); a.status != 201 {
			t.Fatalf("call %d: %d %s", i+2, a.status, a.raw)
		}
	}
	a := d.do("POST", persistPath, token, persistBody("M1", "Onzième"))
	if a.status != 429 || a.m["retryable"] != true || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", a.status, a.header, a.raw)
	}
	if a := d.do("POST", persistPath, token, first); a.status != 200 {
		t.Errorf("a replay is limited: %d", a.status)
	}
}

func TestUnlearningOverHTTP(t *testing.T) {
	d := open(t, t.TempDir())
	token, _ := d.token("M1")
	path := "/lea/competences/saisir_texte/unlearning"
	if a := d.do("POST", path, token, m{"reason": "obsolète"}); a.status != 201 || a.m["active"] != true {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if a := d.do("POST", path, token, m{"reason": "encore"}); a.status != 200 || a.m["reason"] != "obsolète" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := d.do("POST", persistPath, token, persistBody("M1", "Saisir texte")); a.status != 409 || a.m["detail"] != "désapprentissage actif" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := d.do("DELETE", path, token, nil); a.status != 200 || a.m["active"] != false {
		t.Errorf("%d %s", a.status, a.raw)
	}
	for _, c := range [][3]any{{"DELETE", path, nil}, {"GET", "/lea/competences/inconnue", nil}} {
		if a := d.do(c[0].(string), c[1].(string), token, c[2]); a.status != 404 {
			t.Errorf("%v: %d %s", c, a.status, a.raw)
		}
	}
	if a := d.do("POST", path, token, m{"reason": "x", "force": true}); a.status != 400 {
		t.Errorf("%d", a.status)
	}
}

func TestRegistriesAndForeignPaths(t *testing.T) {
	d := open(t, t.TempDir())
	token, _ := d.token("M1")
	if a := d.do("GET", "/lea/primitives", token, nil); a.status != 200 || len(a.m["primitives"].([]any)) != 25 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := d.do("GET", "/lea/external-agents", token, nil); a.status != 200 || len(a.m["external_agents"].([]any)) != 2 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := d.do("DELETE", "/lea/primitives", token, nil); a.status != 405 {
		t.Errorf("%d", a.status)
	}
	for _, path := range []string{"/lea/primitives", "/lea/competences", "/shadow/understanding?session_id=x"} {
		if a := d.do("GET", path, "", nil); a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s without a token: %d", path, a.status)
		}
	}
}

// TestShadowFullCycle is the seed's integration test: start → events → stop →
// understanding → feedback → build → persist, complete and partial, with a
// restart of everything in the middle.
func TestShadowFullCycle(t *testing.T) {
	for _, partial := range []bool{false, true} {
		t.Run(fmt.Sprintf("partial=%v", partial), func(t *testing.T) { cycle(t, partial) })
	}
}

func cycle(t *testing.T, partial bool) {
	home := t.TempDir()
	d := open(t, home)
	token, _ := d.token("DESKTOP-58D5CAC_windows")
	want := func(a answer, status int) answer {
		t.Helper()
		if a.status != status {
			t.Fatalf("%d instead of %d: %s", a.status, status, a.raw)
		}
		return a
	}
	started := want(d.do("POST", "/shadow/start", token, m{"machine_id": "DESKTOP-58D5CAC_windows", "name": "Saisir texte Word"}), 201)
	id := started.m["session_id"]
	if a := want(d.do("POST", "/shadow/start", token, m{"machine_id": "DESKTOP-58D5CAC_windows"}), 409); a.code() != string(refusal.SessionOpen) {
		t.Error(a.code())
	}
	want(d.do("POST", "/shadow/events", token, m{"session_id": id, "seq": 1, "events": []m{
		{"type": "key", "key": "r", "modifiers": []string{"win"}, "t": 1717257932123},
		{"type": "window", "action": "open", "window": m{"title": "Exécuter"}, "t": 1717257934123},
		{"type": "text", "text": "winword", "t": 1717257934500},
	}}), 200)

	d.stop() // a restart: the session lives on
	d = open(t, home)
	if a := want(d.do("POST", "/shadow/events", token, m{"session_id": id, "seq": 9, "events": []m{{"type": "screenshot", "t": 1717257935000}}}), 409); a.m["expected"] != 4.0 {
		t.Errorf("expected: %v", a.m["expected"])
	}
	want(d.do("POST", "/shadow/events", token, m{"session_id": id, "seq": 4, "events": []m{
		{"type": "key", "key": "Enter", "t": 1717257934600}, {"type": "click", "x": 10, "y": 20, "text": "Document", "t": 1717257934700},
		{"type": "text", "text": "winword", "t": 1717257934800}}}), 200)
	want(d.do("POST", "/shadow/build", token, m{"session_id": id}), 409)
	want(d.do("POST", "/shadow/stop", token, m{"session_id": id}), 200)
	want(d.do("POST", "/shadow/stop", token, m{"session_id": id}), 200)
	understood := want(d.do("GET", fmt.Sprintf("/shadow/understanding?session_id=%v", id), token, nil), 200)
	if len(understood.m["steps"].([]any)) != 6 || len(understood.m["parameters"].([]any)) != 1 {
		t.Errorf("%s", understood.raw)
	}
	corrected := want(d.do("POST", "/shadow/feedback", token, m{"session_id": id, "revision": 0, "changes": []m{
		{"op": "parametrise", "step": "s3", "name": "texte"}, {"op": "annotate", "text": "saisir le texte transmis dans Word"}}}), 200)
	want(d.do("POST", "/shadow/feedback", token, m{"session_id": id, "revision": 0, "changes": []m{{"op": "delete", "step": "s1"}}}), 409)
	built := want(d.do("POST", "/shadow/build", token, m{"session_id": id, "revision": corrected.m["revision"]}), 200)
	if again := d.do("POST", "/shadow/build", token, m{"session_id": id}); again.m["hash"] != built.m["hash"] {
		t.Error("two builds of one revision differ")
	}

	meta := m{"persist_id": uuid(), "partial": partial, "dropout_reason": nil, "source_phase": "shadow_build"}
	if partial {
		meta["dropout_reason"] = "interrompu"
	}
	kept := want(d.do("POST", persistPath, token, m{"name": built.m["name"], "machine_id": built.m["machine_id"], "session_id": id,
		"workflow_ir": built.m["workflow_ir"], "parameters": built.m["parameters"], "annotations_semantiques": built.m["annotations_semantiques"],
		"external_decision": m{"agent_id": "t2a_v2_codeur", "decision_contract": "code T2A"}, "learning_metadata": meta}), 201)
	if _, err := os.Stat(filepath.Join(home, kept.m["yaml_path"].(string))); err != nil {
		t.Error(err)
	}
	lines := func(name string) int {
		data, _ := os.ReadFile(filepath.Join(home, "data/competences", name))
		return bytes.Count(data, []byte("\n"))
	}
	half := map[bool]int{true: 1}[partial]
	if lines("persist_audit.jsonl") != 1 || lines("incomplete_learnings.jsonl") != half {
		t.Errorf("%d audit lines, %d incomplete", lines("persist_audit.jsonl"), lines("incomplete_learnings.jsonl"))
	}
	if state := map[bool]string{true: "incomplete", false: "candidate"}[partial]; kept.m["learning_state"] != state {
		t.Errorf("%s", kept.raw)
	}
}
