package pii_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"arkamsg/competences/pii"
)

// nir builds a valid NIR; the people in these tests do not exist.
func nir(body string) string {
	var n int64
	fmt.Sscan(strings.NewReplacer("2A", "19", "2B", "18").Replace(body), &n)
	return fmt.Sprintf("%s%02d", body, 97-n%97)
}

func types(fs []pii.Finding) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Type+"@"+f.Pointer)
	}
	return strings.Join(out, " ")
}

func TestPersonalDataIsFound(t *testing.T) {
	n := nir("1850175123001")
	spaced := n[:1] + " " + n[1:3] + " " + n[3:5] + " " + n[5:7] + " " + n[7:10] + " " + n[10:13] + " " + n[13:]
	wide := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + '０'
		}
		return r
	}, n)
	arabic := strings.Map(func(r rune) rune { return r - '0' + '٠' }, n)
	for text, want := range map[string]string{
		n:                 "NIR",
		"chambre 12 " + n: "NIR",
		spaced:            "NIR",
		strings.ReplaceAll(spaced, " ", "\u202f"):         "NIR",
		strings.ReplaceAll(spaced, " ", "\u00a0"):         "NIR",
		strings.ReplaceAll(spaced, " ", "."):              "NIR",
		strings.ReplaceAll(spaced, " ", "-"):              "NIR",
		strings.Join(strings.Split(n, ""), " "):           "NIR",
		wide:                                              "NIR",
		arabic:                                            "NIR",
		nir("285012A123001"):                              "NIR",
		"2 85 01 2B 123 001 " + nir("285012B123001")[13:]: "NIR",
		"NIR : 1850175123001":                             "NIR",
		"n° sécu 185017512300199":                         "NIR",
		"IPP 800123456":                                   "PATIENT_NUMBER",
		"Dossier n°123456789":                             "PATIENT_NUMBER",
		"dossier 123 456 789":                             "PATIENT_NUMBER",
		"nda:1234567890":                                  "PATIENT_NUMBER",
		"10003456789 (RPPS)":                              "PATIENT_NUMBER",
		"FR7630006000011234567890189":                     "IBAN",
		"virement FR76 3000 6000 0112 3456 7890 189 reçu": "IBAN",
		"de89 3704 0044 0532 0130 00":                     "IBAN",
		"écrire à Jean.Dupont@chu-lyon.fr":                "EMAIL",
		"jean＠exemple．fr":                                 "EMAIL",
		"06 12 34 56 78":                                  "PHONE",
		"tel 0612345678":                                  "PHONE PATIENT_NUMBER",
		"+33 6 12 34 56 78":                               "PHONE",
		"0033612345678":                                   "PHONE",
		"+33 (0)1.23.45.67.89":                            "PHONE",
		"née le 12/03/1985":                               "BIRTH_DATE",
		"Né le 1er mars 1985":                             "BIRTH_DATE",
		"DDN : 1985-03-12":                                "BIRTH_DATE",
		"date de naissance 12.03.85":                      "BIRTH_DATE",
	} {
		found := pii.Default().Scan("", text)
		var got []string
		for _, f := range found {
			got = append(got, f.Type)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %v, want %s", text, got, want)
		}
	}
}

func TestLabelMayBeTheKey(t *testing.T) {
	for doc, want := range map[string]string{
		`{"dossierPatient":123456789}`:                          "PATIENT_NUMBER@/dossierPatient",
		`{"ipp":"800123456"}`:                                   "PATIENT_NUMBER@/ipp",
		`{"patient":{"id":800123456}}`:                          "PATIENT_NUMBER@/patient/id",
		`{"parameters":[{"name":"ipp","default":"800123456"}]}`: "PATIENT_NUMBER@/parameters/0/default",
		`{"date_naissance":"1985-03-12"}`:                       "BIRTH_DATE@/date_naissance",
		`{"a/b":["x","` + nir("1850175123001") + `"]}`:          "NIR@/a~1b/1",
		`{"v":` + nir("1850175123001") + `}`:                    "NIR@/v",
	} {
		if got := types(scanJSON(t, doc)); got != want {
			t.Errorf("%s: got %q, want %q", doc, got, want)
		}
	}
}

func TestPersonalKeyIsFoundAndMasked(t *testing.T) {
	n := nir("2850175123001")
	found := scanJSON(t, `{"`+n+`":{"x":"a@b.fr"}}`)
	if got := types(found); got != "NIR@/* EMAIL@/*/x" {
		t.Errorf("got %q", got)
	}
}

func scanJSON(t *testing.T, text string) []pii.Finding {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return pii.Default().Scan("", v)
}

func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	for _, text := range []string{
		"saisir le texte transmis dans Word", "Win+R puis explorer.exe", "v1.2.3-rc.4+build.20261121", "git@2.43.0",
		"npm i react@18.2.0-beta.1", "192.168.10.25", "10.0.0.1:8080", "fe80::1ff:fe23:4567:890a", "0x000000000012AB34",
		"550e8400-e29b-41d4-a716-446655440000", "2026-06-01T18:05:32.123+02:00", "20260601T180000Z", "1717257932123",
		"48.856614, 2.3522219", "-0.123456789012345", "clic en 1920 1080", "fenêtre 1 sur 12", "@pmo", "C:\\Users\\dom",
		"né pour coder", "patient suivant", "le dossier est ouvert", "réunion le 12/03/2026", "sess_20260601T180000_abc123",
		"DESKTOP-58D5CAC_windows", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"patient t=1717257932123", "fenêtre patient hwnd=123456789",
	} {
		if found := pii.Default().Scan("", text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// TestNoFalseHits: what a screen is full of is nobody. 500 random values of
// each kind (100,000 in the long form), alone and in sentences.
func TestNoFalseHits(t *testing.T) {
	rounds := 500
	if os.Getenv("ARKA_LONG") == "1" {
		rounds = 100_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	num := func(n int64) string { return fmt.Sprint(r.Int64N(n)) }
	kinds := map[string]func() string{
		"pixel":     func() string { return num(7680) + "," + num(4320) },
		"pixel row": func() string { return num(7680) + " " + num(4320) + " " + num(7680) + " " + num(4320) },
		"float":     func() string { return fmt.Sprint(r.Float64() * 4000) },
		"geo":       func() string { return fmt.Sprintf("%.7f, %.7f", r.Float64()*180-90, r.Float64()*360-180) },
		"epoch ms":  func() string { return fmt.Sprint(1_500_000_000_000 + r.Int64N(500_000_000_000)) },
		"epoch s":   func() string { return fmt.Sprint(1_500_000_000 + r.Int64N(500_000_000)) },
		"uuid":      func() string { return uuid(r) },
		"hwnd":      func() string { return fmt.Sprint(r.Uint32()) },
		"hwnd hex":  func() string { return fmt.Sprintf("0x%016X", r.Uint64()) },
		"version":   func() string { return num(30) + "." + num(100) + "." + num(30000) + "." + num(10000) },
		"semver":    func() string { return "lib@" + num(30) + "." + num(100) + "." + num(300) + "-rc." + num(9) },
		"ip":        func() string { return num(256) + "." + num(256) + "." + num(256) + "." + num(256) + ":" + num(65536) },
		"timestamp": func() string {
			return fmt.Sprintf("2026-%02s-%02sT%02s:%02s:%02s.%03sZ", pad(num(12)), pad(num(28)), pad(num(24)), pad(num(60)), pad(num(60)), num(1000))
		},
		"compact": func() string {
			return fmt.Sprintf("202%s%02d%02d%02d%02d%02d", num(10), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
		},
		"local stamp": func() string {
			return fmt.Sprintf("%02d/%02d/2026 %02d:%02d", 1+r.IntN(28), 1+r.IntN(12), r.IntN(24), r.IntN(60))
		},
	}
	for name, make := range kinds {
		for range rounds {
			v := make()
			for _, text := range []string{v, "clic sur " + v + " puis Entrée", "t=" + v} {
				if found := pii.Default().Scan("", text); len(found) > 0 {
					t.Fatalf("%s: %q: %v", name, text, found)
				}
			}
		}
	}
}

func pad(s string) string {
	if len(s) < 2 {
		return "0" + s
	}
	return s
}

func uuid(r *rand.Rand) string {
	s := fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
	return s[:8] + "-" + s[8:12] + "-4" + s[13:16] + "-a" + s[17:20] + "-" + s[20:]
}

// TestNumbersOfEventsAreNobody: the same as JSON numbers under the keys that
// recorders use, also inside a patient's window.
func TestNumbersOfEventsAreNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{"window": "Dossier patient", "events": []any{map[string]any{
			"t": rapid.Int64Range(1_500_000_000_000, 1_999_999_999_999).Draw(t, "t"), "x": rapid.Int64Range(0, 7680).Draw(t, "x"),
			"hwnd": rapid.Int64Range(0, 1<<48).Draw(t, "hwnd"), "y": rapid.Float64Range(-9e9, 9e9).Draw(t, "y"),
		}}}
		if found := pii.Default().Scan("", doc); len(found) > 0 {
			t.Fatalf("%v: %v", doc, found)
		}
	})
}

// TestEveryValidNIRIsFound, however it is spaced and labelled.
func TestEveryValidNIRIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := fmt.Sprintf("%d%02d%02d%02d%03d%03d", rapid.IntRange(1, 2).Draw(t, "sex"), rapid.IntRange(0, 99).Draw(t, "year"),
			rapid.IntRange(1, 12).Draw(t, "month"), rapid.IntRange(1, 95).Draw(t, "place"), rapid.IntRange(1, 989).Draw(t, "town"), rapid.IntRange(1, 999).Draw(t, "order"))
		n := nir(body)
		sep := rapid.SampledFrom([]string{"", " ", "\u00a0", "\u2009", ".", "-"}).Draw(t, "sep")
		text := strings.Join([]string{n[:1], n[1:3], n[3:5], n[5:7], n[7:10], n[10:13], n[13:]}, sep)
		before := rapid.SampledFrom([]string{"", "Saisir ", "(", "12 ", "n°", "nº", "№ ", "M. Test, "}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", " puis", ")", ".", ", fin"}).Draw(t, "after")
		if pii.Default().Clean(before + text + after) {
			t.Fatalf("missed %q", before+text+after)
		}
	})
}

func TestRulesListAllTheirProblems(t *testing.T) {
	_, err := pii.Parse([]byte("version: 1\nlabels: {}\ntechnical: [x]\nrules:\n  - {type: A, pattern: '('}\n  - {type: '', digits: [3], near: [nobody]}\n"))
	for _, want := range []string{"rules[0].pattern", "rules[1].type", "rules[1].near"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not reported: %v", want, err)
		}
	}
}

func TestRulesAreConfigurable(t *testing.T) {
	d, err := pii.Parse([]byte("version: 1\nlabels: {}\ntechnical: [x]\nrules:\n  - {type: BADGE, pattern: 'b-[0-9]{4}'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := types(d.Scan("/w", []any{"Badge B-1234", "a@b.fr"})); got != "BADGE@/w/0" {
		t.Errorf("got %q", got)
	}
	// a rule about letters alone is no less a rule
	d, err = pii.Parse([]byte("version: 1\nlabels: {}\ntechnical: [x]\nrules:\n  - {type: CODENAME, pattern: 'bluebird'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := types(d.Scan("/w", "Projet Bluebird")); got != "CODENAME@/w" {
		t.Errorf("got %q", got)
	}
}

// FuzzScan: never fails, never hangs, and no finding repeats what was found.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"1 85 01 75 123 001 08", "né le 1/1/80", "a@b.fr", "٠٦١٢٣٤٥٦٧٨", strings.Repeat("1 ", 500), "FR76 3000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		for _, found := range pii.Default().Scan("", map[string]any{"k": text, text: "v"}) {
			if len(text) >= 5 && strings.Contains(found.Pointer+found.Type, text) {
				t.Fatalf("%v repeats %q", found, text)
			}
		}
	})
}
