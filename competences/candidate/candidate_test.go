package candidate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"arkamsg/competences/candidate"
	"arkamsg/competences/document"
	"arkamsg/competences/pii"
	"arkamsg/competences/primitives"
	"arkamsg/competences/refusal"
	"arkamsg/competences/strictjson"
)

var rules = candidate.Rules{PII: pii.Default(), Primitives: primitives.Default(), Agents: []string{"t2a_v2_codeur", "autre"}}

const base = `{"name":"Saisir texte Word","machine_id":"M1","session_id":"sess_1",
 "workflow_ir":{"steps":[{"kind":"type_text","params":{"text":"${texte}"}}],"preconditions":["Word est ouvert"],"success_marker":{"kind":"window"}},
 "parameters":[{"name":"texte","type":"string","required":true}],
 "external_decision":{"agent_id":"t2a_v2_codeur","decision_contract":"x"},
 "annotations_semantiques":{"intent_fr":"saisir le texte"},
 "learning_metadata":{"persist_id":"550e8400-e29b-41d4-a716-446655440000","partial":false,"dropout_reason":null,"source_phase":"shadow_build"}}`

// with returns the base body with some top-level or dotted fields replaced.
func with(t *testing.T, changes map[string]any) map[string]any {
	t.Helper()
	body, err := strictjson.Object([]byte(base), strictjson.Default)
	if err != nil {
		t.Fatal(err)
	}
	for path, v := range changes {
		data, _ := json.Marshal(v)
		v, _ = strictjson.Parse(data, strictjson.Default)
		at := body
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			at = at[k].(map[string]any)
		}
		at[keys[len(keys)-1]] = v
	}
	return body
}

type m = map[string]any

func TestGoodBody(t *testing.T) {
	c, err := candidate.Check(with(t, nil), rules)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Source
	if s.ID != "saisir_texte_word" || s.State != document.Candidate || len(s.Steps) != 1 || s.Provenance.MachineID != "M1" || c.Demoted != "" {
		t.Errorf("%+v", c)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change m
		code   refusal.Code
		field  string
	}{
		{"unknown field", m{"colour": 1}, refusal.SchemaInvalid, "/colour"},
		{"field in other case", m{"Name": "x"}, refusal.SchemaInvalid, "/Name"},
		{"no persist_id", m{"learning_metadata": m{}}, refusal.SchemaInvalid, "/learning_metadata"},
		{"not a v4", m{"learning_metadata.persist_id": "550e8400-e29b-11d4-a716-446655440000"}, refusal.SchemaInvalid, "/learning_metadata/persist_id"},
		{"steps no list", m{"workflow_ir.steps": m{}}, refusal.SchemaInvalid, "/workflow_ir/steps"},
		{"control character", m{"annotations_semantiques": m{"a": "x\x1b[31m"}}, refusal.SchemaInvalid, "/annotations_semantiques/a"},
		{"bidi key", m{"annotations_semantiques": m{"a\u202e": "x"}}, refusal.SchemaInvalid, "/annotations_semantiques/*"},
		{"long text", m{"annotations_semantiques": m{"a": strings.Repeat("x", 20_000)}}, refusal.SchemaInvalid, "/annotations_semantiques/a"},
		{"short name", m{"name": "ab"}, refusal.NameInvalid, "/name"},
		{"path name", m{"name": "../../x"}, refusal.NameInvalid, "/name"},
		{"agent", m{"external_decision": m{"agent_id": "inconnu"}}, refusal.AgentUnknown, "/external_decision/agent_id"},
		{"agent in a step", m{"workflow_ir.steps": []any{m{"kind": "external_decision", "params": m{"agent_id": "inconnu"}}}}, refusal.AgentUnknown, "/workflow_ir/steps/0/params/agent_id"},
		{"no steps", m{"workflow_ir.steps": []any{}}, refusal.StepsEmpty, "/workflow_ir/steps"},
		{"kind", m{"workflow_ir.steps": []any{m{"kind": "copy"}, m{"kind": "run_shell"}}}, refusal.PrimitiveUnknown, "/workflow_ir/steps/1/kind"},
		{"params", m{"workflow_ir.steps": []any{m{"kind": "wait_ms", "params": m{"ms": "5"}}}}, refusal.ParamsInvalid, "/workflow_ir/steps/0/params/ms"},
		{"same id twice", m{"workflow_ir.steps": []any{m{"kind": "copy", "id": "a"}, m{"kind": "copy", "id": "a"}}}, refusal.ParamsInvalid, "/workflow_ir/steps/1/id"},
		{"no dropout", m{"learning_metadata.partial": true}, refusal.DropoutMissing, "/learning_metadata/dropout_reason"},
		{"blank dropout", m{"learning_metadata.partial": true, "learning_metadata.dropout_reason": "  "}, refusal.DropoutMissing, "/learning_metadata/dropout_reason"},
		{"pii in a step", m{"workflow_ir.steps": []any{m{"kind": "type_text", "params": m{"text": "jean@chu.fr"}}}}, refusal.PIIDetected, "/workflow_ir/steps/0/params/text"},
		{"pii in annotations", m{"annotations_semantiques": m{"ipp": 800123456}}, refusal.PIIDetected, "/annotations_semantiques/ipp"},
		{"pii in name", m{"name": "Dossier patient 123456789"}, refusal.PIIDetected, "/name"},
		{"pii in dropout", m{"learning_metadata.partial": true, "learning_metadata.dropout_reason": "appel 06 12 34 56 78"}, refusal.PIIDetected, "/learning_metadata/dropout_reason"},
	} {
		_, err := candidate.Check(with(t, c.change), rules)
		r := refusal.Of(err)
		if r == nil || r.Code != c.code {
			t.Errorf("%s: got %v, want %s", c.name, err, c.code)
			continue
		}
		if !strings.Contains(fmt.Sprint(r.Err.Problems), c.field) {
			t.Errorf("%s: %v does not point to %s", c.name, r.Err.Problems, c.field)
		}
	}
}

// Seed §7: test_external_agent_unknown_400 wants the sorted list of agents.
func TestUnknownAgentAndKindListTheValidOnes(t *testing.T) {
	_, err := candidate.Check(with(t, m{"external_decision.agent_id": "x"}), rules)
	if got := fmt.Sprint(refusal.Of(err).Valid); got != "[autre t2a_v2_codeur]" {
		t.Errorf("agents: %s", got)
	}
	_, err = candidate.Check(with(t, m{"workflow_ir.steps": []any{m{"kind": "x"}}}), rules)
	if got := refusal.Of(err).Valid; len(got) != len(primitives.Default().Kinds()) {
		t.Errorf("kinds: %v", got)
	}
}

// Seed §7: test_payload_stable_forced_to_candidate.
func TestPayloadStableForcedToCandidate(t *testing.T) {
	for _, change := range []m{{"learning_state": "stable"}, {"learning_metadata.learning_state": "supervised"}, {"learning_state": "nonsense"}, {"learning_state": nil}} {
		c, err := candidate.Check(with(t, change), rules)
		if err != nil || c.Source.State != document.Candidate {
			t.Errorf("%v: %v", change, err)
		}
	}
}

// Seed §7: test_partial_true_forces_incomplete_state.
func TestPartialTrueForcesIncompleteState(t *testing.T) {
	c, err := candidate.Check(with(t, m{"workflow_ir.steps": []any{}, "learning_state": "candidate",
		"learning_metadata.partial": true, "learning_metadata.dropout_reason": "interrompu"}), rules)
	if err != nil || c.Source.State != document.Incomplete || c.Demoted != "candidate" {
		t.Errorf("%+v %v", c, err)
	}
}

// TestOrderOfChecks breaks everything at once, then mends one check after the
// other: each time the next code of the fixed order must answer.
func TestOrderOfChecks(t *testing.T) {
	broken := m{"colour": 1, "name": "ab", "external_decision.agent_id": "x",
		"workflow_ir.steps": []any{}, "annotations_semantiques": m{"t": "jean@chu.fr"}}
	mend := []struct {
		key string
		to  any
	}{{"colour", nil}, {"name", "Bon nom"}, {"external_decision.agent_id", "autre"}, {"workflow_ir.steps", []any{m{"kind": "x"}}},
		{"workflow_ir.steps", []any{m{"kind": "wait_ms"}}}, {"workflow_ir.steps", []any{m{"kind": "copy"}}}, {"annotations_semantiques", m{}}}
	var got []refusal.Code
	for i := range len(mend) + 1 {
		body := with(t, broken)
		if i > 0 {
			delete(body, "colour")
		}
		if i == 6 {
			body["learning_metadata"] = m{"persist_id": "550e8400-e29b-41d4-a716-446655440000", "partial": true}
		}
		if _, err := candidate.Check(body, rules); err != nil {
			got = append(got, refusal.Of(err).Code)
		}
		if i < len(mend) {
			broken = maps.Clone(broken)
			broken[mend[i].key] = mend[i].to
			if mend[i].to == nil {
				delete(broken, mend[i].key)
			}
		}
	}
	want := []refusal.Code{refusal.SchemaInvalid, refusal.NameInvalid, refusal.AgentUnknown, refusal.StepsEmpty,
		refusal.PrimitiveUnknown, refusal.ParamsInvalid, refusal.DropoutMissing}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestNoRefusalRepeatsAValue puts personal data where every check can trip
// over it.
func TestNoRefusalRepeatsAValue(t *testing.T) {
	const secret = "1850175123001"
	secretKey := "dossier " + secret
	for _, change := range []m{
		{secretKey: 1}, {"name": "/../" + secretKey}, {"name": secret}, {"session_id": secretKey},
		{"external_decision.agent_id": secretKey}, {"workflow_ir.steps": []any{m{"kind": secretKey}}},
		{"workflow_ir.steps": []any{m{"kind": "wait_ms", "params": m{secretKey: secretKey}}}},
		{"annotations_semantiques": m{secretKey: secretKey}}, {"annotations_semantiques": m{secretKey: "\x1b"}},
		{"learning_metadata.persist_id": secretKey},
	} {
		_, err := candidate.Check(with(t, change), rules)
		r := refusal.Of(err)
		if r == nil {
			t.Errorf("%v was accepted", change)
			continue
		}
		if all := fmt.Sprint(r.Error(), r.Findings, r.Valid, r.Err); strings.Contains(all, secret) {
			t.Errorf("%v leaks into %s", change, all)
		}
	}
}

// FuzzCheck: whatever is accepted can be written, read back and means the same.
func FuzzCheck(f *testing.F) {
	f.Add(base)
	f.Add(strings.Replace(base, "saisir le texte", `yes\n- a: b\n# c`, 1))
	f.Add(strings.Replace(base, `"kind":"window"`, `"a":1e3,"b":[1.5,-0,null,true,"0x1F","1_000","~"]`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		body, err := strictjson.Object([]byte(text), strictjson.Default)
		if err != nil {
			return
		}
		c, err := candidate.Check(body, rules)
		if err != nil {
			return
		}
		c.Source.Provenance.PersistID = c.PersistID
		d := document.Generate(c.Source)
		data, err := document.Encode(d)
		if err != nil {
			t.Fatalf("accepted but cannot be written: %v", err)
		}
		back, err := document.Decode(data)
		if err != nil || !document.Same(d, back) {
			t.Fatalf("does not survive the round trip: %v\n%s", err, data)
		}
	})
}
