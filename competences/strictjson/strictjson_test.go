package strictjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"arkamsg/competences/strictjson"
	"arkamsg/internal/errkind"
)

func TestRefusedTexts(t *testing.T) {
	for name, text := range map[string]string{
		"duplicate key":       `{"a":1,"a":2}`,
		"duplicate by case":   `{"name":1,"Name":2}`,
		"duplicate by escape": `{"a":1,"\u0061":2}`,
		"nested duplicate":    `{"x":[{"a":1,"a":2}]}`,
		"trailing value":      `{} {}`,
		"trailing garbage":    `{}x`,
		"empty":               ``,
		"cut":                 `{"a":`,
		"comment":             `{} // c`,
		"invalid utf-8":       "{\"a\":\"\xff\"}",
		"high surrogate":      `{"a":"\ud800"}`,
		"low surrogate":       `{"a":"\udc00"}`,
		"reversed pair":       `{"a":"\udc00\ud800"}`,
		"big integer":         `{"a":9223372036854775808}`,
		"big float":           `{"a":1e400}`,
		"too deep":            strings.Repeat("[", 40) + strings.Repeat("]", 40),
		"too many":            "[" + strings.Repeat("1,", 60_000) + "1]",
		"too long":            `"` + strings.Repeat("x", 1<<20) + `"`,
		"NaN":                 `{"a":NaN}`,
		"bom":                 "\ufeff{}",
	} {
		if _, err := strictjson.Parse([]byte(text), strictjson.Default); errkind.Of(err) != errkind.Invalid || err == nil {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
}

func TestAcceptedTexts(t *testing.T) {
	for _, text := range []string{`{}`, `[]`, `{"a":"\ud83d\ude00"}`, `{"a":"\\ud800"}`, `{"a":1.5e3,"b":[null,true]}`, " {\"é\":\"à\"}\n"} {
		if _, err := strictjson.Parse([]byte(text), strictjson.Default); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestErrorNeverQuotesTheInput(t *testing.T) {
	const secret = "185017512300171"
	for _, text := range []string{`{"` + secret + `":1,"` + secret + `":2}`, `{"a":` + secret + `x}`, `{"a":"` + secret} {
		_, err := strictjson.Parse([]byte(text), strictjson.Default)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("error quotes the input or is missing: %v", err)
		}
	}
}

func TestCanonicalIsOneForm(t *testing.T) {
	a, _ := strictjson.Parse([]byte(`{"b":3.0,"a":[1e2,"<é>"]}`), strictjson.Default)
	b, _ := strictjson.Parse([]byte(" {\"a\" : [100, \"\\u003c\\u00e9>\"], \"b\":3}"), strictjson.Default)
	ca, _ := strictjson.Canonical(a)
	cb, _ := strictjson.Canonical(b)
	if !bytes.Equal(ca, cb) || string(ca) != `{"a":[100,"<é>"],"b":3}` {
		t.Errorf("%s\n%s", ca, cb)
	}
}

// FuzzParse: whatever is accepted, encoding/json reads to the same document,
// and the canonical form is stable.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[1,2.5,"x\ud83d\ude00"]`, `{"a":{"b":[null]}}`, `{"a":1,"A":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := strictjson.Parse(data, strictjson.Default)
		if err != nil {
			return
		}
		var std any
		if err := json.Unmarshal(data, &std); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		one, err := strictjson.Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := strictjson.Parse(one, strictjson.Limits{MaxBytes: 8 << 20, MaxDepth: 32, MaxNodes: 50_000})
		if err != nil {
			t.Fatalf("canonical form refused: %v", err)
		}
		if two, _ := strictjson.Canonical(again); !bytes.Equal(one, two) {
			t.Fatalf("canonical form moves: %s / %s", one, two)
		}
	})
}
