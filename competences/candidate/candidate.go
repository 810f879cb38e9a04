package candidate

import (
	"fmt"
	"slices"
	"strings"

	"arkamsg/competences/document"
	"arkamsg/competences/pii"
	"arkamsg/competences/primitives"
	"arkamsg/competences/refusal"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
)

// Rules are what a body is judged by.
type Rules struct {
	PII        *pii.Detector
	Primitives *primitives.Registry
	Agents     []string // the registry of external decision agents
}

// Candidate is a body that may be kept.
type Candidate struct {
	Source    document.Source // At and Provenance.PersistID are the keeper's to fill
	PersistID string          // the client's, lower case
	Demoted   string          // a learning_state was asked for and not granted: "stable"
}

// Check judges a body. Its error is a *refusal.Refusal.
func Check(body map[string]any, rules Rules) (*Candidate, error) {
	if problems := shape(body, rules.PII); len(problems) > 0 {
		return nil, refusal.New(refusal.SchemaInvalid, errkind.Invalid, "the body does not fit the schema").With(problems...)
	}
	name, _ := body["name"].(string)
	id, err := slug.Make(name)
	if err != nil {
		return nil, refusal.New(refusal.NameInvalid, errkind.Invalid, "%v", err).With(errkind.Problem{Field: "/name", Message: "cannot become an id"})
	}
	c := read(body, id)
	for _, check := range []func(*Candidate, Rules) error{agents, steps, kinds, dropout} {
		if err := check(c, rules); err != nil {
			return nil, err
		}
	}
	if found := personal(body, rules.PII); len(found) > 0 {
		return nil, refusal.PII(found)
	}
	return c, nil
}

// read takes the checked body apart.
func read(body map[string]any, id slug.Slug) *Candidate {
	meta := object(body["learning_metadata"])
	flow := object(body["workflow_ir"])
	c := &Candidate{PersistID: strings.ToLower(text(meta["persist_id"]))}
	c.Source = document.Source{
		ID: id, Name: text(body["name"]), State: document.Candidate,
		Steps: objects(flow["steps"]), Preconditions: list(flow["preconditions"]), SuccessMarker: object(flow["success_marker"]),
		Parameters: objects(body["parameters"]), ExternalDecision: object(body["external_decision"]), Annotations: object(body["annotations_semantiques"]),
		Provenance: document.Provenance{
			ClientPersistID: c.PersistID, MachineID: text(body["machine_id"]), SessionID: text(body["session_id"]),
			SourcePhase: text(meta["source_phase"]), Partial: meta["partial"] == true, DropoutReason: text(meta["dropout_reason"]),
		},
	}
	if c.Source.Provenance.Partial {
		c.Source.State = document.Incomplete
	} else {
		c.Source.Provenance.DropoutReason = ""
	}
	c.Demoted = demoted(c.Source.State, text(body["learning_state"]), text(meta["learning_state"]))
	return c
}

// demoted names the known state that was asked for and is not granted.
func demoted(got document.State, asked ...string) string {
	for _, a := range asked {
		if s := document.State(a); s != got && (s == document.Stable || s == document.Supervised || s == document.Candidate) {
			return a
		}
	}
	return ""
}

func agents(c *Candidate, rules Rules) error {
	var problems []errkind.Problem
	if d := c.Source.ExternalDecision; d != nil && !slices.Contains(rules.Agents, text(d["agent_id"])) {
		problems = append(problems, errkind.Problem{Field: "/external_decision/agent_id", Message: "unknown external agent"})
	}
	for i, step := range c.Source.Steps {
		params := object(step["params"])
		if id, ok := params["agent_id"].(string); ok && step["kind"] == "external_decision" && !slices.Contains(rules.Agents, id) {
			problems = append(problems, errkind.Problem{Field: stepAt(i) + "/params/agent_id", Message: "unknown external agent"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	r := refusal.New(refusal.AgentUnknown, errkind.Invalid, "this external agent is not in the registry").With(problems...)
	r.Valid = slices.Sorted(slices.Values(rules.Agents))
	return r
}

func steps(c *Candidate, _ Rules) error {
	if len(c.Source.Steps) == 0 && !c.Source.Provenance.Partial {
		return refusal.New(refusal.StepsEmpty, errkind.Invalid, "a competence needs at least one step unless it is partial").
			With(errkind.Problem{Field: "/workflow_ir/steps", Message: "is empty"})
	}
	return nil
}

func kinds(c *Candidate, rules Rules) error {
	var unknown, wrong []errkind.Problem
	ids := map[string]bool{}
	for i, step := range c.Source.Steps {
		kind := primitives.Kind(text(step["kind"]))
		if !rules.Primitives.Known(kind) {
			unknown = append(unknown, errkind.Problem{Field: stepAt(i) + "/kind", Message: "unknown kind"})
			continue
		}
		for _, p := range rules.Primitives.Check(kind, step["params"], rules.PII.Token) {
			wrong = append(wrong, errkind.Problem{Field: stepAt(i) + "/params" + p.Field, Message: p.Message})
		}
		if id := text(step["id"]); id != "" {
			if ids[id] {
				wrong = append(wrong, errkind.Problem{Field: stepAt(i) + "/id", Message: "is the id of an earlier step"})
			}
			ids[id] = true
		}
	}
	if len(unknown) > 0 {
		r := refusal.New(refusal.PrimitiveUnknown, errkind.Invalid, "a step is of no known kind").With(unknown...)
		for _, k := range rules.Primitives.Kinds() {
			r.Valid = append(r.Valid, string(k))
		}
		return r
	}
	if len(wrong) > 0 {
		return refusal.New(refusal.ParamsInvalid, errkind.Invalid, "the parameters of a step do not fit its kind").With(wrong...)
	}
	return nil
}

func dropout(c *Candidate, _ Rules) error {
	p := c.Source.Provenance
	if p.Partial && strings.TrimSpace(p.DropoutReason) == "" {
		return refusal.New(refusal.DropoutMissing, errkind.Invalid, "a partial learning needs its dropout_reason").
			With(errkind.Problem{Field: "/learning_metadata/dropout_reason", Message: "is missing"})
	}
	return nil
}

// personal scans everything that would be kept, apart from the two ids that
// say who asked.
func personal(body map[string]any, d *pii.Detector) []pii.Finding {
	kept := make(map[string]any, len(body))
	for k, v := range body {
		if k != "machine_id" && k != "learning_metadata" {
			kept[k] = v
		}
	}
	meta := object(body["learning_metadata"])
	kept["learning_metadata"] = map[string]any{"dropout_reason": meta["dropout_reason"]}
	return d.Scan("", kept)
}

func stepAt(i int) string { return fmt.Sprintf("/workflow_ir/steps/%d", i) }

func text(v any) string {
	s, _ := v.(string)
	return s
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func objects(v any) []map[string]any {
	l := list(v)
	out := make([]map[string]any, 0, len(l))
	for _, e := range l {
		out = append(out, object(e))
	}
	return out
}
