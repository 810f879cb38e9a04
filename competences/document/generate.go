package document

import (
	"strconv"
	"time"

	"arkamsg/competences/slug"
	"arkamsg/competences/strictjson"
)

// Source is all that a new competence is made from. It is what the journal
// keeps, so that the file can be made again, byte by byte.
type Source struct {
	ID               slug.Slug        `json:"id"`
	Name             string           `json:"name"`
	State            State            `json:"state"` // Candidate or Incomplete
	At               time.Time        `json:"at"`
	Steps            []map[string]any `json:"steps"`
	Preconditions    []any            `json:"preconditions"`
	SuccessMarker    map[string]any   `json:"success_marker"`
	Parameters       []map[string]any `json:"parameters"`
	ExternalDecision map[string]any   `json:"external_decision"`
	Annotations      map[string]any   `json:"annotations"`
	Provenance       Provenance       `json:"provenance"`
}

// Runs that a person should have seen before promoting; written into each new
// file, where they can be changed.
var defaultRequired = Required{Supervised: 3, Stable: 10}

// failureTemplate is what Léa says when a step fails. Its placeholders are
// filled by the program that runs the competence.
const failureTemplate = "La compétence « {name} » a échoué à l'étape {step} : {reason}."

// Generate makes the document of a new competence. It is pure.
func Generate(s Source) *Document {
	d := &Document{
		SchemaVersion: 1, ID: s.ID, Name: s.Name, Version: 1, LearningState: s.State,
		Intent:                 intent(s),
		Parameters:             normalMaps(s.Parameters),
		Preconditions:          normalList(s.Preconditions),
		Methods:                methods(s.Steps),
		SuccessMarker:          normalMap(s.SuccessMarker),
		FailureMessageTemplate: failureTemplate,
		Promotion:              Promotion{Required: defaultRequired},
		CreatedAt:              Stamp(s.At),
		LastUpdatedAt:          Stamp(s.At),
		MethodsExecution:       Execution{Mode: "sequential", StopOnFailure: true},
		Provenance:             s.Provenance,
	}
	for _, p := range d.Parameters {
		if name, ok := p["name"].(string); ok {
			d.Generalisation.Parameters = append(d.Generalisation.Parameters, name)
		}
	}
	for _, m := range d.Methods {
		d.MethodsExecution.Order = append(d.MethodsExecution.Order, m.ID)
	}
	if s.ExternalDecision != nil {
		d.MethodsExecution.ExternalDecision = normalMap(s.ExternalDecision)
	}
	d.Provenance.Annotations = normalMap(s.Annotations)
	d.normalise()
	return d
}

// intent is what the annotations say, else the name: a competence without a
// stated intent intends what it is called.
func intent(s Source) string {
	if text, ok := s.Annotations["intent_fr"].(string); ok && text != "" {
		return text
	}
	return s.Name
}

// methods maps workflow_ir.steps one to one; a step without an id of its own
// gets its place.
func methods(steps []map[string]any) []Method {
	out := make([]Method, len(steps))
	for i, step := range steps {
		m := Method{ID: "m" + itoa(i+1)}
		if id, ok := step["id"].(string); ok {
			m.ID = id
		}
		m.Kind, _ = step["kind"].(string)
		m.Label, _ = step["label"].(string)
		m.Note, _ = step["note"].(string)
		params, _ := step["params"].(map[string]any)
		m.Params = normalMap(params)
		out[i] = m
	}
	return out
}

func normalMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return strictjson.Normal(m).(map[string]any)
}

func normalList(l []any) []any {
	if l == nil {
		return []any{}
	}
	return strictjson.Normal(l).([]any)
}

func normalMaps(ms []map[string]any) []map[string]any {
	out := make([]map[string]any, len(ms))
	for i, m := range ms {
		out[i] = normalMap(m)
	}
	return out
}

func itoa(i int) string { return strconv.Itoa(i) }
