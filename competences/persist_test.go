package competences

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
	"arkamsg/journal"
)

var bg = context.Background()

func TestPersistWritesFileAuditAndAnswer(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	p := f.machine(t, "M1")
	id := persistID()
	a, err := f.Persist(bg, p, body("M1", "Saisir texte Word", id))
	if err != nil || !a.Created {
		t.Fatal(err)
	}
	var got struct {
		CompetenceID    string `json:"competence_id"`
		YAMLPath        string `json:"yaml_path"`
		LearningState   string `json:"learning_state"`
		PersistID       string `json:"persist_id"`
		ClientPersistID string `json:"client_persist_id"`
		AuditEntryID    int64  `json:"audit_entry_id"`
	}
	if err := json.Unmarshal(a.Body, &got); err != nil {
		t.Fatal(err)
	}
	if got.CompetenceID != "saisir_texte_word" || got.YAMLPath != "data/competences/candidate/saisir_texte_word.yaml" ||
		got.LearningState != "candidate" || got.ClientPersistID != id || got.PersistID == id || got.AuditEntryID != 1 {
		t.Errorf("%+v", got)
	}
	d, err := f.Get(bg, "saisir_texte_word")
	if err != nil || d.Provenance.PersistID != got.PersistID || d.Provenance.MachineID != "M1" {
		t.Errorf("%+v %v", d, err)
	}
	var line entry
	data, _ := os.ReadFile(filepath.Join(f.home, Folder, auditFile))
	if err := json.Unmarshal(data, &line); err != nil || line.PersistID != got.PersistID || line.CompetenceName != "Saisir texte Word" || line.AuditEntryID != 1 {
		t.Errorf("%s %v", data, err)
	}
	if info, _ := os.Stat(filepath.Join(f.home, got.YAMLPath)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	f.sound(t)
}

// Seed §7: test_idempotence_same_persist_id_returns_previous.
func TestIdempotenceSamePersistIDReturnsPrevious(t *testing.T) {
	f := start(t, t.TempDir(), Settings{PerMinute: 2})
	p := f.machine(t, "M1")
	id := persistID()
	first, err := f.Persist(bg, p, body("M1", "Saisir texte Word", id))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // a replay spends no call of the two per minute
		again, err := f.Persist(bg, p, body("M1", "Saisir texte Word", strings.ToUpper(id)))
		if err != nil || again.Created || !bytes.Equal(again.Body, first.Body) {
			t.Fatalf("%+v %v", again, err)
		}
	}
	other, err := f.Persist(bg, p, body("M1", "Autre nom", id))
	if err != nil || !other.Mismatch || !bytes.Equal(other.Body, first.Body) {
		t.Errorf("%+v %v", other, err)
	}
	f.Configure(Settings{MismatchConflict: true})
	if _, err := f.Persist(bg, p, body("M1", "Autre nom", id)); code(err) != refusal.IdempotencyMismatch {
		t.Errorf("%v", err)
	}
	if got := lineCount(t, f, auditFile); got != 1 {
		t.Errorf("%d audit lines", got)
	}
	// the key is (machine, persist id): another machine may use the same one
	if a, err := f.Persist(bg, f.machine(t, "M2"), body("M2", "Nom de M2", id)); err != nil || !a.Created {
		t.Errorf("%v", err)
	}
	f.sound(t)
}

// Seed §7: test_partial_true_forces_incomplete_state, with its second line.
func TestPartialIsWrittenTwice(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	p := f.machine(t, "M1")
	partial := m{"learning_metadata.partial": true, "learning_metadata.dropout_reason": "interrompu par une alarme", "learning_state": "stable",
		"workflow_ir": m{"steps": []any{}}}
	a, err := f.Persist(bg, p, body("M1", "Appris à moitié", persistID(), partial))
	if err != nil || !strings.Contains(string(a.Body), `"learning_state":"incomplete"`) {
		t.Fatalf("%s %v", a.Body, err)
	}
	if _, err := f.Persist(bg, p, body("M1", "Appris en entier", persistID())); err != nil {
		t.Fatal(err)
	}
	if got, half := lineCount(t, f, auditFile), lineCount(t, f, incompleteFile); got != 2 || half != 1 {
		t.Errorf("%d audit lines, %d incomplete", got, half)
	}
	f.sound(t)
}

// Seed §7: test_slug_collision_409, across all states and whatever the origin.
func TestCollisionAcrossStates(t *testing.T) {
	for _, folder := range document.Folders {
		f := start(t, t.TempDir(), Settings{})
		name := filepath.Join(f.home, Folder, document.File(folder, "deposee_a_la_main"))
		if err := os.WriteFile(name, []byte("pas même du YAML: ["), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Persist(bg, f.machine(t, "M1"), body("M1", "Déposée à la main", persistID())); code(err) != refusal.CompetenceExists {
			t.Errorf("%s: %v", folder, err)
		}
		if data, _ := os.ReadFile(name); string(data) != "pas même du YAML: [" {
			t.Errorf("%s: the file was touched", folder)
		}
		if rows, _ := f.journal.Events(bg, journal.Filter{}); len(rows) != 0 {
			t.Errorf("%s: a refused persist was appended", folder)
		}
	}
}

func TestUnlearningBlocksTheSlug(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	p := f.machine(t, "M1")
	if _, _, err := f.BeginUnlearning(bg, "saisir_texte", "dom", "obsolète"); err != nil {
		t.Fatal(err)
	}
	_, err := f.Persist(bg, p, body("M1", "Saisir texte", persistID()))
	if code(err) != refusal.UnlearningActive || err.Error() != "désapprentissage actif" {
		t.Errorf("%v", err)
	}
	if _, err := f.EndUnlearning(bg, "saisir_texte", "dom"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Persist(bg, p, body("M1", "Saisir texte", persistID())); err != nil {
		t.Errorf("%v", err)
	}
}

// TestRefusedKeyMayTryAgain: only what was kept is replayed.
func TestRefusedKeyMayTryAgain(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	p := f.machine(t, "M1")
	id := persistID()
	if _, err := f.Persist(bg, p, body("M1", "Premier nom", persistID())); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Persist(bg, p, body("M1", "Premier nom", id)); code(err) != refusal.CompetenceExists {
		t.Fatal(err)
	}
	if a, err := f.Persist(bg, p, body("M1", "Second nom", id)); err != nil || !a.Created {
		t.Errorf("%v", err)
	}
	f.sound(t)
}

func TestOrderBeforeTheBody(t *testing.T) {
	f := start(t, t.TempDir(), Settings{PerMinute: 1})
	p := f.machine(t, "M1")
	id := persistID()
	for _, c := range []struct {
		raw  string
		code refusal.Code
	}{
		{`{"machine_id":"M2","machine_id":"M1"}`, refusal.InvalidJSON},
		{`[]`, refusal.InvalidJSON},
		{`{}`, refusal.MachineIDMissing},
		{`{"machine_id":7}`, refusal.MachineIDMissing},
		{`{"machine_id":"M2"}`, refusal.MachineMismatch},
		{string(body("M1", "Saisir", id)), ""},
		{`{"machine_id":"M1","learning_metadata":{"persist_id":"` + id + `"}}`, ""}, // replay comes before everything else
		{`{"machine_id":"M1"}`, refusal.RateLimited},                                // and the rate before the schema
		{`{"machine_id":"M1","learning_metadata":{"persist_id":"` + persistID() + `"}}`, refusal.RateLimited},
	} {
		if _, err := f.Persist(bg, p, []byte(c.raw)); code(err) != c.code {
			t.Errorf("%.60s: got %v, want %s", c.raw, err, c.code)
		}
	}
}

// Seed §7: test_rate_limit_11th_call_429; the window slides.
func TestRateLimit11thCall429(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	now := time.Unix(1000, 0)
	f.rate.now = func() time.Time { return now }
	p, other := f.machine(t, "M1"), f.machine(t, "M2")
	call := func() error {
		_, err := f.Persist(bg, p, body("M1", fmt.Sprintf("Nom %d", counter.Add(1)), persistID()))
		now = now.Add(time.Second)
		return err
	}
	for i := range 10 {
		if err := call(); err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	err := call() // at 1010; the first was at 1000
	if code(err) != refusal.RateLimited || refusal.Of(err).RetryAfter != 50*time.Second {
		t.Fatalf("11th call: %v %v", err, refusal.Of(err))
	}
	if _, err := f.Persist(bg, other, body("M2", "Autre machine", persistID())); err != nil {
		t.Errorf("another machine is limited too: %v", err)
	}
	now = time.Unix(1060, 0).Add(-time.Nanosecond)
	if code(call()) != refusal.RateLimited {
		t.Error("the 11th call within 60 s was let through")
	}
	now = time.Unix(1060, 0)
	if err := call(); err != nil {
		t.Errorf("60 s after the first: %v", err)
	}
	if code(call()) == refusal.RateLimited {
		now = now.Add(2 * time.Minute)
		f.rate.take("M3", 10)
		if len(f.rate.calls) != 1 {
			t.Errorf("%d machines are remembered after two quiet minutes", len(f.rate.calls))
		}
	}
}

// Seed §7: test_token_revoked_401, also between the door's look and the write.
func TestTokenRevokedBeforeTheWriteWritesNothing(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	p := f.machine(t, "M1")
	if err := f.clients.Revoke(bg, p.ClientID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Persist(bg, p, body("M1", "Trop tard", persistID())); code(err) != refusal.Unauthenticated {
		t.Errorf("%v", err)
	}
	if len(f.files(t)) != 0 {
		t.Errorf("%v", f.files(t))
	}
}

// Seed §7: test_pii_detected_rejected; the value is nowhere.
func TestPIIDetectedRejectedAndNowhere(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	var log bytes.Buffer
	f.log = newLog(&log)
	const secret = "jean.dupont.secret@chu-exemple.fr"
	_, err := f.Persist(bg, f.machine(t, "M1"), body("M1", "Avec PII", persistID(), m{"workflow_ir": m{"steps": []any{m{"kind": "type_text", "params": m{"text": "mail " + secret}}}}}))
	r := refusal.Of(err)
	if r == nil || r.Code != refusal.PIIDetected || len(r.Findings) != 1 || r.Findings[0].Pointer != "/workflow_ir/steps/0/params/text" || r.Findings[0].Type != "EMAIL" {
		t.Fatalf("%v", err)
	}
	if strings.Contains(err.Error()+log.String(), secret) {
		t.Error("the value leaks")
	}
	f.stop()
	err = filepath.WalkDir(f.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds the value", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOneNameManyMachines: one 201, the others 409, one file, one line.
func TestOneNameManyMachines(t *testing.T) {
	t.Parallel()
	f := start(t, t.TempDir(), Settings{PerMinute: 1 << 20})
	const racers = 50
	rounds := 5
	if long {
		rounds = 200
	}
	type racer struct {
		id string
		as func(raw []byte) (Answer, error)
	}
	var rs []racer
	for i := range racers {
		id := fmt.Sprintf("M%d", i)
		p := f.machine(t, id)
		rs = append(rs, racer{id, func(raw []byte) (Answer, error) { return f.Persist(bg, p, raw) }})
	}
	for round := range rounds {
		codes := race(racers, func(i int) string {
			_, err := rs[i].as(body(rs[i].id, fmt.Sprintf("Course %d", round), persistID()))
			return string(code(err))
		})
		if codes[""] != 1 || codes[string(refusal.CompetenceExists)] != racers-1 {
			t.Fatalf("round %d: %v", round, codes)
		}
	}
	if got := lineCount(t, f, auditFile); got != rounds {
		t.Errorf("%d audit lines for %d rounds", got, rounds)
	}
	f.sound(t)
}

// TestOneKeyManyTimes: one 201, the others 200, identical bodies.
func TestOneKeyManyTimes(t *testing.T) {
	t.Parallel()
	f := start(t, t.TempDir(), Settings{PerMinute: 1 << 20})
	p := f.machine(t, "M1")
	const racers = 50
	rounds := 5
	if long {
		rounds = 100
	}
	for round := range rounds {
		raw := body("M1", fmt.Sprintf("Répétée %d", round), persistID())
		var mu sync.Mutex
		bodies := map[string]int{}
		codes := race(racers, func(int) string {
			a, err := f.Persist(bg, p, raw)
			mu.Lock()
			bodies[string(a.Body)]++
			mu.Unlock()
			return fmt.Sprint(a.Created, code(err))
		})
		if codes["true"] != 1 || codes["false"] != racers-1 || len(bodies) != 1 {
			t.Fatalf("round %d: %v, %d bodies", round, codes, len(bodies))
		}
	}
	f.sound(t)
}

// TestOneKeyInTwoProcesses: what locks nobody shares, the table decides.
func TestOneKeyInTwoProcesses(t *testing.T) {
	home := t.TempDir()
	at := []*fixture{start(t, home, Settings{PerMinute: 1 << 20}), start(t, home, Settings{PerMinute: 1 << 20})}
	for round := range 20 {
		raw := body("M1", fmt.Sprintf("Deux portes %d", round), persistID())
		var bodies sync.Map
		codes := race(4, func(i int) string {
			a, err := at[i%2].PersistLocal(bg, raw)
			bodies.Store(string(a.Body), true)
			return fmt.Sprint(a.Created, code(err))
		})
		n := 0
		bodies.Range(func(any, any) bool { n++; return true })
		if codes["true"] != 1 || codes["false"] != 3 || n != 1 {
			t.Fatalf("round %d: %v, %d bodies", round, codes, n)
		}
	}
	if events, _ := at[0].journal.Events(bg, journal.Filter{Kinds: []journal.Kind{journal.KindPersist}, Limit: 100}); len(events) != 20 {
		t.Errorf("%d events for 20 keys", len(events))
	}
	at[1].sound(t)
}

// race runs n callers at once and counts their answers.
func race(n int, call func(i int) string) map[string]int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			c := call(i)
			mu.Lock()
			defer mu.Unlock()
			got[c]++
		})
	}
	close(gate)
	wg.Wait()
	return got
}
