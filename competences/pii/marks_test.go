package pii

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestShortCutChangesNothing: what the detector finds with the short cut for
// texts without digits is what it finds without.
func TestShortCutChangesNothing(t *testing.T) {
	quick := Default()
	if !quick.marked {
		t.Fatal("the built-in rules do not take the short cut")
	}
	thorough := *quick
	thorough.marked = false
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(né le|tel|a@b\.fr|[a-z ]{0,9})[①-⑨0-9 ./]{0,12}`), rapid.StringMatching(`[ａ-ｚ@＠.]{3,9}`))
	rapid.Check(t, func(t *rapid.T) {
		s, label := text.Draw(t, "text"), rapid.SampledFrom([]string{"", "dossier", "naissance"}).Draw(t, "label")
		if a, b := quick.text(label, s), thorough.text(label, s); !slices.Equal(a, b) {
			t.Fatalf("%q: %v, without the short cut %v", s, a, b)
		}
	})
}

// TestMarked: only expressions that cannot do without a digit or '@'.
func TestMarked(t *testing.T) {
	for expr, want := range map[string]bool{
		`[0-9]{4}`: true, `a@b`: true, `(?:x1|y2)z*`: true, `(b-)?[0-9]+`: true,
		`[0-9]*`: false, `[0-9a]{4}`: false, `x1|y`: false, `(7)?`: false, `secret`: false, `(`: false, `\d|\pL`: false,
	} {
		if got := marked(expr); got != want {
			t.Errorf("%s: %v", expr, got)
		}
	}
}

// TestWordsShortCut: keys of small letters read as all others do.
func TestWordsShortCut(t *testing.T) {
	for key, want := range map[string]string{"numero_dossier": "numero dossier", "a__b": "a b", "numeroDossier": "numero dossier", "date-ms": "date ms", "": ""} {
		if got := words(key); got != want {
			t.Errorf("%q reads %q, want %q", key, got, want)
		}
	}
}
