package competences

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"arkamsg/competences/candidate"
	"arkamsg/competences/refusal"
	"arkamsg/competences/strictjson"
	"arkamsg/journal"
)

// appended is a persist whose process died right after the append.
func appended(t *testing.T, f *fixture, raw []byte) (key, row) {
	t.Helper()
	parsed, err := strictjson.Object(raw, strictjson.Default)
	if err != nil {
		t.Fatal(err)
	}
	c, err := candidate.Check(parsed, f.rules())
	if err != nil {
		t.Fatal(err)
	}
	k, _ := keyOf("M1", parsed)
	work, err := prepare(k, c.Source)
	if err != nil {
		t.Fatal(err)
	}
	payload := sha256.Sum256(raw)
	r := row{lane: laneOf(c.Source.ID), payload: payload[:]}
	err = f.journal.Update(bg, func(tx *journal.Tx) (err error) {
		if r, err = openRow(tx.SQL(), k, r); err == nil {
			_, err = tx.Append(journal.NewEvent{MessageID: r.message, Kind: journal.KindPersist, Lane: r.lane, Body: work.body})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k, r
}

// TestNumbersStayExact from the request to the file, beyond what float64 holds.
func TestNumbersStayExact(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	if _, err := f.PersistLocal(bg, body("M1", "Nombres exacts", persistID(), m{"annotations_semantiques.n": json.Number("9007199254740993")})); err != nil {
		t.Fatal(err)
	}
	d, err := f.Get(bg, "nombres_exacts")
	if err != nil || fmt.Sprint(d.Provenance.Annotations["n"]) != "9007199254740993" {
		t.Errorf("%v %v", d.Provenance.Annotations, err)
	}
}

// TestRouteFinishesWhatWasAppended at the daemon's next start.
func TestRouteFinishesWhatWasAppended(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	k, _ := appended(t, f, body("M1", "Laissée en plan", persistID()))
	if err := f.finishAll(); err != nil {
		t.Fatal(err)
	}
	if r, err := f.row(bg, k); err != nil || r.state != done {
		t.Errorf("%+v %v", r, err)
	}
	f.sound(t)
}

// TestRouteMeetsAnUnlearning that began after the append: the persist fails and
// leaves no file; its key may try again later.
func TestRouteMeetsAnUnlearning(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	raw := body("M1", "Laissée en plan", persistID())
	k, _ := appended(t, f, raw)
	if _, _, err := f.BeginUnlearning(bg, "laissee_en_plan", "dom", "obsolète"); err != nil {
		t.Fatal(err)
	}
	if err := f.finishAll(); err != nil {
		t.Fatal(err)
	}
	if r, err := f.row(bg, k); err != nil || r.state != failed || r.code != refusal.UnlearningActive {
		t.Errorf("%+v %v", r, err)
	}
	if got := f.files(t); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if _, err := f.EndUnlearning(bg, "laissee_en_plan", "dom"); err != nil {
		t.Fatal(err)
	}
	if a, err := f.PersistLocal(bg, raw); err != nil || !a.Created {
		t.Errorf("%v", err)
	}
	f.sound(t)
}

// TestDeadLetterRevivedTooLate: its key has gone on to another generation.
func TestDeadLetterRevivedTooLate(t *testing.T) {
	f := start(t, t.TempDir(), Settings{})
	raw := body("M1", "Ressuscitée", persistID())
	_, r := appended(t, f, raw)
	if _, _, err := f.BeginUnlearning(bg, "ressuscitee", "dom", "obsolète"); err != nil {
		t.Fatal(err)
	}
	if err := f.finishAll(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.EndUnlearning(bg, "ressuscitee", "dom"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.PersistLocal(bg, raw); err != nil {
		t.Fatal(err)
	}
	if _, err := f.journal.RetryDead(bg, r.message); err != nil {
		t.Fatal(err)
	}
	if err := f.finishAll(); err != nil {
		t.Fatal(err)
	}
	if got := lineCount(t, f, auditFile); got != 1 {
		t.Errorf("%d audit lines", got)
	}
	f.sound(t)
}
