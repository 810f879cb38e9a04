package primitives_test

import (
	"testing"

	"arkamsg/competences/primitives"
)

// good and bad parameters per kind; a kind without an example fails the test.
var examples = map[primitives.Kind]struct{ good, bad map[string]any }{
	"key_combo":         {m("keys", l("win", "r")), m("keys", l())},
	"type_text":         {m("text", "${texte}"), m("text", 5)},
	"click":             {m("target", m("x", 10, "y", 2.5)), m("target", m())},
	"double_click":      {m("target", m("text", "OK")), m("button", "left")},
	"right_click":       {m("target", m("role", "button")), m("target", "OK")},
	"drag":              {m("from", m("x", 1, "y", 1), "to", m("x", 2, "y", 2)), m("from", m("x", 1))},
	"scroll":            {m("dy", -3), m("dy", "down")},
	"move":              {m("target", m("x", 1, "y", 1)), m()},
	"wait_ms":           {m("ms", 500), m("ms", -1)},
	"wait_window":       {m("window", m("title", "Word")), m("window", m("colour", "red"))},
	"wait_process":      {m("process", "explorer.exe"), m("process", "")},
	"wait_text":         {m("text", "Prêt"), m("timeout_ms", 5)},
	"wait_image":        {m("image", "ok.png", "confidence", 0.9), m("image", "ok.png", "confidence", 2)},
	"focus_window":      {m("window", m("process", "winword.exe")), m()},
	"launch_app":        {m("app", "notepad.exe", "args", l("a.txt")), m("args", l("x"))},
	"close_window":      {m("window", m("title", "Word")), m("window", m())},
	"select_menu":       {m("path", l("Fichier", "Enregistrer")), m("path", "Fichier")},
	"copy":              {m(), m("from", "x")},
	"paste":             {m("text", "abc"), m("text", "")},
	"read_text":         {m("into", "montant"), m()},
	"assert_text":       {m("text", "Enregistré"), m()},
	"assert_window":     {m("window", m("class", "OpusApp")), m("window", 1)},
	"screenshot":        {m(), m("path", "/etc")},
	"human_pause":       {m("reason", "relire"), m("reason", 1)},
	"external_decision": {m("agent_id", "t2a_v2_codeur", "inputs", m("texte", "x")), m("inputs", m())},
}

func m(kv ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(kv); i += 2 {
		out[kv[i].(string)] = kv[i+1]
	}
	return out
}

func l(vs ...any) []any { return vs }

func TestEveryKindHasASchemaThatBites(t *testing.T) {
	r := primitives.Default()
	if len(r.Kinds()) != len(examples) {
		t.Errorf("registry has %d kinds, the test %d", len(r.Kinds()), len(examples))
	}
	for _, p := range r.All() {
		ex, ok := examples[p.Kind]
		if !ok || p.Title == "" {
			t.Errorf("%s has no example or no title", p.Kind)
			continue
		}
		if got := r.Check(p.Kind, ex.good, nil); got != nil {
			t.Errorf("%s refuses %v: %v", p.Kind, ex.good, got)
		}
		if got := r.Check(p.Kind, ex.bad, nil); got == nil {
			t.Errorf("%s accepts %v", p.Kind, ex.bad)
		}
		if got := r.Check(p.Kind, m("unknown_param", 1), nil); got == nil {
			t.Errorf("%s accepts an unknown parameter", p.Kind)
		}
	}
}

func TestTheSetIsClosed(t *testing.T) {
	r := primitives.Default()
	if r.Known("run_shell") || r.Known("") || r.Check("run_shell", nil, nil) == nil {
		t.Error("an unknown kind is accepted")
	}
}

func TestABrokenRegistryIsRefused(t *testing.T) {
	for _, text := range []string{"", "primitives: {a: {title: x, params: {p: {type: nonsense}}}}", "primitives: {a: {colour: red}}"} {
		if _, err := primitives.Parse([]byte(text)); err == nil {
			t.Errorf("accepted %q", text)
		}
	}
}
