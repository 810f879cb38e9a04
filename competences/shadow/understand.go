package shadow

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"arkamsg/competences/refusal"
	"arkamsg/competences/strictjson"
	"arkamsg/internal/errkind"
)

// Parameter is a value that may vary. A proposed one is not yet one.
type Parameter struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Required bool     `json:"required"`
	Proposed bool     `json:"proposed"`
	Steps    []string `json:"steps"` // where the value stands
}

// Doubt is something the rules cannot know.
type Doubt struct {
	Code string `json:"code"`
	Step string `json:"step,omitempty"`
	Text string `json:"text"`
}

// Understanding is what the events mean, after the feedback so far.
type Understanding struct {
	SessionID   string            `json:"session_id"`
	State       string            `json:"state"`
	Revision    int64             `json:"revision"`
	Name        string            `json:"name"`
	Intent      string            `json:"intent"`
	Steps       []Step            `json:"steps"`
	Parameters  []Parameter       `json:"parameters"`
	Annotations map[string]string `json:"annotations"`
	Doubts      []Doubt           `json:"doubts"`
}

// Change is one correction by a person.
type Change struct {
	Op    string `json:"op"` // rename, delete, parametrise, annotate
	Step  string `json:"step,omitempty"`
	Label string `json:"label,omitempty"`
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"`
	Key   string `json:"key,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Understand folds the events and applies the feedback, revision by revision.
// It is pure. Its error is a refusal that points into the last revision.
func Understand(s Session, events []Event, feedback [][]Change) (*Understanding, error) {
	f := fold(events)
	u := &Understanding{SessionID: s.ID, State: s.State, Revision: int64(len(feedback)), Name: s.Name, Intent: s.Intent,
		Steps: f.steps, Parameters: []Parameter{}, Annotations: map[string]string{}, Doubts: []Doubt{}}
	if u.Steps == nil {
		u.Steps = []Step{}
	}
	if s.Intent != "" {
		u.Annotations["intent_fr"] = s.Intent
	}
	for _, changes := range feedback {
		for i, c := range changes {
			if err := u.change(c); err != "" {
				return nil, refusal.New(refusal.SchemaInvalid, errkind.Invalid, "a change cannot be made").
					With(errkind.Problem{Field: fmt.Sprintf("/changes/%d", i), Message: err})
			}
		}
	}
	u.propose()
	u.doubt(f)
	return u, nil
}

// change returns what is wrong, or "".
func (u *Understanding) change(c Change) string {
	if c.Op == "annotate" && c.Step == "" {
		u.annotate(c)
		return ""
	}
	i := slices.IndexFunc(u.Steps, func(s Step) bool { return s.ID == c.Step })
	if i < 0 {
		return "there is no such step (any more)"
	}
	switch c.Op {
	case "rename":
		u.Steps[i].Label = c.Label
	case "delete":
		u.Steps = slices.Delete(slices.Clone(u.Steps), i, i+1)
	case "annotate":
		u.Steps[i].Note = c.Text
	case "parametrise":
		return u.parametrise(&u.Steps[i], c)
	}
	return ""
}

func (u *Understanding) annotate(c Change) {
	key := c.Key
	if key == "" {
		key = "intent_fr"
	}
	if key == "intent_fr" {
		u.Intent = c.Text
	}
	u.Annotations[key] = c.Text
}

// parametrise puts a placeholder where the text stood, in every step that
// types the same text.
func (u *Understanding) parametrise(step *Step, c Change) string {
	old, ok := step.Params["text"].(string)
	if !ok || step.Kind != "type_text" {
		return "only a typed text can become a parameter"
	}
	if strings.HasPrefix(old, "${") {
		return "this text is a parameter already"
	}
	if slices.ContainsFunc(u.Parameters, func(p Parameter) bool { return p.Name == c.Name }) {
		return "there is a parameter of this name"
	}
	p := Parameter{Name: c.Name, Type: c.Type, Required: true}
	if p.Type == "" {
		p.Type = "string"
	}
	for i := range u.Steps {
		if s := &u.Steps[i]; s.Kind == "type_text" && s.Params["text"] == old {
			s.Params = maps.Clone(s.Params)
			s.Params["text"] = "${" + c.Name + "}"
			p.Steps = append(p.Steps, s.ID)
		}
	}
	u.Parameters = append(u.Parameters, p)
	return ""
}

// propose lists texts that were typed more than once.
func (u *Understanding) propose() {
	seen := map[string][]string{}
	var order []string
	for _, s := range u.Steps {
		text, ok := s.Params["text"].(string)
		if s.Kind != "type_text" || !ok || utf8.RuneCountInString(text) < 3 || strings.HasPrefix(text, "${") {
			continue
		}
		if seen[text] == nil {
			order = append(order, text)
		}
		seen[text] = append(seen[text], s.ID)
	}
	n := 0
	for _, text := range order {
		if len(seen[text]) > 1 {
			n++
			u.Parameters = append(u.Parameters, Parameter{Name: fmt.Sprintf("valeur_%d", n), Type: "string", Required: true, Proposed: true, Steps: seen[text]})
		}
	}
}

func (u *Understanding) doubt(f *folder) {
	add := func(code, step, text string) { u.Doubts = append(u.Doubts, Doubt{code, step, text}) }
	if u.Intent == "" {
		add("intent_unknown", "", "nobody said what this is for")
	}
	if len(u.Steps) == 0 {
		add("nothing_seen", "", "no event became a step")
	}
	if f.moves > 0 {
		add("moves_dropped", "", fmt.Sprintf("%d movements of the pointer led to nothing and were left out", f.moves))
	}
	for _, s := range u.Steps {
		switch s.Kind {
		case "click", "double_click", "right_click":
			if t, _ := s.Params["target"].(map[string]any); t["text"] == nil && t["role"] == nil {
				add("place_only", s.ID, "the click is known by its coordinates only")
			}
		case "human_pause":
			add("human_pause", s.ID, "a person paused; was a decision taken here?")
		case "wait_ms":
			add("wait_guessed", s.ID, "a pause was taken for a wait of fixed length")
		case "type_text":
			if text, _ := s.Params["text"].(string); !strings.HasPrefix(text, "${") {
				add("constant_text", s.ID, "is this text the same each time?")
			}
		}
	}
	for _, p := range u.Parameters {
		if p.Proposed {
			add("parameter_proposed", p.Steps[0], "the same text was typed more than once; is it a parameter?")
		}
	}
}

// Built is what a session yields: the parts of a persist request that follow
// from it, and a hash that names them.
type Built struct {
	SessionID   string            `json:"session_id"`
	MachineID   string            `json:"machine_id"`
	Revision    int64             `json:"revision"`
	Name        string            `json:"name"`
	Workflow    map[string]any    `json:"workflow_ir"`
	Parameters  []map[string]any  `json:"parameters"`
	Annotations map[string]string `json:"annotations_semantiques"`
	Hash        string            `json:"hash"` // sha256 of the canonical workflow_ir, parameters and annotations
}

// Build is pure. Proposed parameters are left out: nobody confirmed them.
func Build(s Session, u *Understanding) (*Built, error) {
	b := &Built{SessionID: s.ID, MachineID: s.MachineID, Revision: u.Revision, Name: u.Name, Parameters: []map[string]any{}, Annotations: u.Annotations}
	for _, p := range u.Parameters {
		if !p.Proposed {
			b.Parameters = append(b.Parameters, map[string]any{"name": p.Name, "type": p.Type, "required": p.Required})
		}
	}
	b.Workflow = map[string]any{"steps": u.Steps, "preconditions": preconditions(u.Steps), "success_marker": marker(u.Steps)}
	canonical, err := canonicalOf(b)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(canonical)
	b.Hash = "sha256:" + hex.EncodeToString(sum[:])
	return b, nil
}

func canonicalOf(b *Built) ([]byte, error) {
	tree, err := strictjson.Of([]any{b.Workflow, b.Parameters, b.Annotations})
	if err != nil {
		return nil, err
	}
	return strictjson.Canonical(tree)
}

// preconditions: the window in which the work began.
func preconditions(steps []Step) []any {
	if len(steps) > 0 && steps[0].Kind == "focus_window" {
		return []any{map[string]any{"kind": "window", "window": steps[0].Params["window"]}}
	}
	return []any{}
}

// marker: the last window that came up, if any.
func marker(steps []Step) map[string]any {
	for _, s := range slices.Backward(steps) {
		if s.Kind == "wait_window" || s.Kind == "focus_window" {
			return map[string]any{"kind": "window", "window": s.Params["window"]}
		}
	}
	return map[string]any{}
}
