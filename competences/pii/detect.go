package pii

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Finding says what kind of personal data stands where. It never holds the
// value.
type Finding struct {
	Type    string `json:"type"`    // NIR, IBAN, EMAIL, PHONE, BIRTH_DATE, PATIENT_NUMBER, or the configuration's own
	Pointer string `json:"pointer"` // RFC 6901, from the root of the document
}

// label reach in bytes of folded text, before and after a value.
const reachBefore, reachAfter = 48, 20

// Scan searches every string, number and key of v, a tree of map[string]any,
// []any, strings and numbers, rooted at the pointer (RFC 6901, "" for the
// whole document). Findings come in document order, each place once per type.
func (d *Detector) Scan(pointer string, v any) []Finding {
	s := &scan{d: d}
	s.walk(pointer, "", v)
	return s.out
}

// Clean reports whether a text taken by itself holds nothing personal.
func (d *Detector) Clean(text string) bool { return len(d.text("", text)) == 0 }

// Token is one reference token of a JSON pointer, or "*" when the key is
// itself personal data or too long to repeat.
func (d *Detector) Token(key string) string {
	if len(key) > 64 || !d.Clean(key) {
		return "*"
	}
	return escaper.Replace(key)
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

type scan struct {
	d   *Detector
	out []Finding
}

func (s *scan) add(pointer string, types []string) {
	for _, t := range types {
		if f := (Finding{t, pointer}); !slices.Contains(s.out[max(0, len(s.out)-8):], f) {
			s.out = append(s.out, f)
		}
	}
}

func (s *scan) walk(at, label string, v any) {
	switch v := v.(type) {
	case map[string]any:
		s.object(at, label, v)
	case []any:
		for i, e := range v {
			s.walk(at+"/"+strconv.Itoa(i), label, e)
		}
	case string:
		s.add(at, s.d.text(label, v))
	case json.Number:
		s.add(at, s.d.text(label, v.String()))
	case int64, int, float64:
		s.add(at, s.d.text(label, fmt.Sprint(v)))
	}
}

// object passes down what labels a value: its key; for a key that says nothing
// ("value"), also the name given beside it or the key above.
func (s *scan) object(at, above string, obj map[string]any) {
	named := above
	for _, k := range []string{"name", "label", "nom", "libelle", "key", "field", "champ"} {
		if text, ok := obj[k].(string); ok && len(text) < 200 {
			named += " " + words(text)
		}
	}
	for _, k := range sortedKeys(obj) {
		label := words(k)
		if neutralKey(label) {
			label = named + " " + label
		}
		token := s.d.Token(k)
		s.add(at+"/"+token, s.d.text("", k))
		s.walk(at+"/"+token, label, obj[k])
	}
}

func neutralKey(label string) bool {
	switch label {
	case "id", "value", "valeur", "numero", "number", "no", "num", "text", "texte", "default", "defaut", "example", "exemple", "content", "contenu":
		return true
	}
	return false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// text returns the types found in one text held by something labelled so.
func (d *Detector) text(label, text string) []string {
	if d.marked && plainly(text) {
		return nil
	}
	plain := fold(text)
	if d.marked && !strings.ContainsAny(plain, marks) {
		return nil
	}
	var found []string
	for _, r := range d.rules {
		if !slices.Contains(found, r.Type) && r.finds(plain, label) {
			found = append(found, r.Type)
		}
	}
	if d.hasDigitRules && len(plain) >= 9 {
		found = d.digitRules(found, plain, label)
	}
	return found
}

func (d *Detector) digitRules(found []string, plain, label string) []string {
	masked := blankTechnical(plain)
	for n := range numbers(masked) {
		for _, r := range d.digits {
			if r.takes(n, masked, label) && !slices.Contains(found, r.Type) && !d.technicalValue(masked, n, label) {
				found = append(found, r.Type)
			}
		}
	}
	return found
}

// technicalValue: a bare number under a technical key, or right behind a
// technical word, measures something.
func (d *Detector) technicalValue(text string, n number, label string) bool {
	if n.from == 0 && n.to == len(text) && len(n.sizes) == 1 && d.technicalKey.MatchString(label) {
		return true
	}
	return d.technicalWord.MatchString(text[max(0, n.from-24):n.from])
}

func (r *rule) finds(plain, label string) bool {
	for at := 0; at < len(plain); {
		loc := r.re.FindStringIndex(plain[at:])
		if loc == nil {
			return false
		}
		from, to := at+loc[0], at+loc[1]
		if r.holds(plain, from, to) && r.labelled(plain, from, to, label) {
			return true
		}
		at = from + max(1, min(to-from, runEnd(plain, from)-from))
	}
	return false
}

// runEnd is where the word at i ends: a refused match may hide another that
// starts with the next word, but none that starts inside this one.
func runEnd(s string, i int) int {
	for i < len(s) && wordByte(s[i]) {
		i++
	}
	return i
}

func (r *rule) holds(s string, from, to int) bool {
	switch r.Check {
	case "iban":
		return (from == 0 || !wordByte(s[from-1]) && s[from-1] != '-') && ibanPrefix(s[from:to])
	case "email":
		return emailShaped(s[from:to])
	case "nir":
		return free(s, from, to) && nirValid(strings.ReplaceAll(s[from:to], " ", ""))
	}
	return free(s, from, to)
}

func (r *rule) takes(n number, text, label string) bool {
	if !slices.Contains(r.Digits, len(n.digits)) {
		return false
	}
	switch r.Check {
	case "nir":
		return nirValid(n.digits) && (nirGrouped(n.sizes) || n.whole && identityNear(r, text, n, label))
	case "nir_shape":
		return nirShaped(n.digits) && nirGrouped(n.sizes) && r.labelled(text, n.from, n.to, label)
	}
	return evenly(n) && r.labelled(text, n.from, n.to, label)
}

// identityNear lets a label excuse an odd grouping of a NIR that checks.
func identityNear(r *rule, text string, n number, label string) bool {
	return r.hint != nil && near(r.hint, text, n.from, n.to, label)
}

// evenly: an identifier is written in one piece or in even groups of two or
// three; a row of unlike numbers is a row of measures.
func evenly(n number) bool {
	if len(n.sizes) == 1 {
		return true
	}
	if n.sep != ' ' || !n.whole {
		return false
	}
	for _, size := range n.sizes {
		if size < 2 || size > 3 {
			return false
		}
	}
	return true
}

func (r *rule) labelled(text string, from, to int, label string) bool {
	return r.label == nil || near(r.label, text, from, to, label)
}
