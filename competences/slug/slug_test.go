package slug_test

import (
	"strings"
	"testing"

	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
)

// Seed §7: test_slug_generation_normal, _with_accents.
func TestSlugGeneration(t *testing.T) {
	for name, want := range map[string]slug.Slug{
		"Saisir texte Word":       "saisir_texte_word",
		"Créer l'accès à l’œuvre": "creer_lacces_a_loeuvre",
		"déjà-vu":                 "dejavu",
		"  Ouvrir   l'Éditeur  ":  "ouvrir_lediteur",
		"Straße ﬁn Łódź þorn":     "strasse_fin_lodz_thorn",
		"ＷＯＲＤ １":                  "word_1",
		"a _ _ b__c":              "a_b_c",
		"Ægir Øre đá":             "aegir_ore_da",
		"a..b/c":                  "abc",
		strings.Repeat("a", 80):   slug.Slug(strings.Repeat("a", 80)),
		"ﬀ²":                      "ff2",
		"İstanbul":                "istanbul",
	} {
		if got, err := slug.Make(name); err != nil || got != want {
			t.Errorf("Make(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}

// Seed §7: test_slug_generation_too_short, test_path_traversal_in_name_blocked.
func TestRefusedNames(t *testing.T) {
	for _, name := range []string{
		"", "ab", "é", "2e étape", "日本語", "___", "   ", strings.Repeat("a", 81),
		"../../etc/passwd", `..\..\windows`, "a/../b", "／．．／etc", "‥/etc/passwd", "/..", "x/ .. /y",
		"nul\x00l", "tab\tname", "line\nname", "rtl\u202ename", "zero\u200bwidth", "ls\u2028name", "bad\xffname",
		"CON", "nul", "Com1", "lpt9", "COM¹", "aux",
	} {
		if got, err := slug.Make(name); errkind.Of(err) != errkind.Invalid || got != "" {
			t.Errorf("Make(%q) = %q, %v; want a refusal", name, got, err)
		}
	}
}

func FuzzMake(f *testing.F) {
	for _, s := range []string{"Saisir texte Word", "l’œuvre", "../x", "COM¹", "Ｗ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, err := slug.Make(name)
		if err != nil {
			return
		}
		if !slug.Valid(string(s)) {
			t.Fatalf("Make(%q) = %q is not a slug", name, s)
		}
		if again, err := slug.Make(string(s)); err != nil || again != s {
			t.Fatalf("Make(%q) = %q, %v: a slug must be its own slug", s, again, err)
		}
	})
}
