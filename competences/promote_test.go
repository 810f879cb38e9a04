package competences

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
)

func TestPromotion(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	if _, err := f.PersistLocal(bg, body("M1", "À promouvoir", persistID())); err != nil {
		t.Fatal(err)
	}
	const id = "a_promouvoir"
	for name, p := range map[string]Promotion{
		"too few runs": {To: document.Supervised, By: "dom", Successes: 2},
		"two steps":    {To: document.Stable, By: "dom", Successes: 99},
		"nobody":       {To: document.Supervised, Successes: 3},
		"no reason":    {To: document.Supervised, By: "dom", Override: true},
		"backwards":    {To: document.Candidate, By: "dom"},
	} {
		if _, err := f.Promote(bg, id, p); err == nil {
			t.Errorf("%s was promoted", name)
		}
	}
	d, err := f.Promote(bg, id, Promotion{To: document.Supervised, By: "dom", Successes: 3, Failures: 1})
	if err != nil || d.Promotion.Successes != 3 || len(d.Promotion.History) != 1 {
		t.Fatalf("%+v %v", d, err)
	}
	if _, err := f.PersistLocal(bg, body("M1", "À promouvoir", persistID())); code(err) != refusal.CompetenceExists {
		t.Errorf("%v", err)
	}
	if _, err := f.Promote(bg, id, Promotion{To: document.Stable, By: "dom", Override: true, Note: "vu au bloc"}); err != nil {
		t.Fatal(err)
	}
	if got := f.files(t); len(got) != 2 || got[1] != "stable/a_promouvoir.yaml" {
		t.Errorf("%v", got)
	}
	if err := f.Unlearn(bg, id, "dom", "obsolète"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PersistLocal(bg, body("M1", "À promouvoir", persistID())); err != nil {
		t.Errorf("after unlearning the name is free: %v", err)
	}
	f.sound(t)
}

func TestIncompleteIsNeverPromoted(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	if _, err := f.PersistLocal(bg, body("M1", "À moitié", persistID(), m{"learning_metadata.partial": true, "learning_metadata.dropout_reason": "x"})); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Promote(bg, "a_moitie", Promotion{To: document.Supervised, By: "dom", Override: true, Note: "quand même"}); err == nil {
		t.Error("promoted")
	}
}

// TestPromotionCutShortIsCompleted: both files stand; the next start removes
// the lower one.
func TestPromotionCutShortIsCompleted(t *testing.T) {
	home := t.TempDir()
	f := start(t, home, Settings{})
	if _, err := f.PersistLocal(bg, body("M1", "À promouvoir", persistID())); err != nil {
		t.Fatal(err)
	}
	lower := filepath.Join(home, Folder, "candidate/a_promouvoir.yaml")
	before, _ := os.ReadFile(lower)
	if _, err := f.Promote(bg, "a_promouvoir", Promotion{To: document.Supervised, By: "dom", Successes: 3}); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(lower, before, 0o600)
	if err := f.Recover(bg); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.files(t), " "); strings.Contains(got, "candidate/") || !strings.Contains(got, "supervised/a_promouvoir.yaml") {
		t.Error(got)
	}
}
