package document

import (
	"time"

	"arkamsg/competences/slug"
)

// State is the learning state of a competence.
type State string

// The states of the package comment.
const (
	Candidate  State = "candidate"
	Incomplete State = "incomplete"
	Supervised State = "supervised"
	Stable     State = "stable"
)

// Folders are the folders of the catalogue in the order in which a competence
// moves through them. Whoever looks for a slug looks in this order: promotion
// writes the next folder before it clears the one before, so a competence on
// the move is always seen.
var Folders = []State{Candidate, Supervised, Stable}

// Folder is where a competence of this state lies.
func (s State) Folder() string {
	if s == Incomplete {
		return string(Candidate)
	}
	return string(s)
}

// File is the name of a competence's file below data/competences.
func File(s State, id slug.Slug) string { return s.Folder() + "/" + string(id) + ".yaml" }

// Document is a competence. The order of the fields is the order in the file.
type Document struct {
	SchemaVersion          int              `yaml:"schema_version" json:"schema_version"`
	ID                     slug.Slug        `yaml:"id" json:"id"`
	Name                   string           `yaml:"name" json:"name"`
	Version                int              `yaml:"version" json:"version"`
	LearningState          State            `yaml:"learning_state" json:"learning_state"`
	Intent                 string           `yaml:"intent" json:"intent"`
	Parameters             []map[string]any `yaml:"parameters" json:"parameters"`
	Preconditions          []any            `yaml:"preconditions" json:"preconditions"`
	Methods                []Method         `yaml:"methods" json:"methods"`
	SuccessMarker          map[string]any   `yaml:"success_marker" json:"success_marker"`
	FailureMessageTemplate string           `yaml:"failure_message_template" json:"failure_message_template"`
	Promotion              Promotion        `yaml:"promotion" json:"promotion"`
	Generalisation         Generalisation   `yaml:"generalisation" json:"generalisation"`
	FailureLog             []map[string]any `yaml:"failure_log" json:"failure_log"`
	CreatedAt              string           `yaml:"created_at" json:"created_at"`
	LastUpdatedAt          string           `yaml:"last_updated_at" json:"last_updated_at"`
	MethodsExecution       Execution        `yaml:"methods_execution" json:"methods_execution"`
	Provenance             Provenance       `yaml:"provenance" json:"provenance"`
}

// Method is one step: a primitive and its parameters.
type Method struct {
	ID     string         `yaml:"id" json:"id"`
	Kind   string         `yaml:"kind" json:"kind"`
	Params map[string]any `yaml:"params" json:"params"`
	Label  string         `yaml:"label,omitempty" json:"label,omitempty"`
	Note   string         `yaml:"note,omitempty" json:"note,omitempty"`
}

// Promotion counts what a person needs to decide, and remembers what was
// decided.
type Promotion struct {
	Successes int        `yaml:"successes" json:"successes"`
	Failures  int        `yaml:"failures" json:"failures"`
	Required  Required   `yaml:"required_successes" json:"required_successes"`
	History   []Promoted `yaml:"history" json:"history"`
}

// Required is the number of successful runs a state asks for.
type Required struct {
	Supervised int `yaml:"supervised" json:"supervised"`
	Stable     int `yaml:"stable" json:"stable"`
}

// Promoted is one promotion.
type Promoted struct {
	To   State  `yaml:"to" json:"to"`
	At   string `yaml:"at" json:"at"`
	By   string `yaml:"by" json:"by"`
	Note string `yaml:"note,omitempty" json:"note,omitempty"`
}

// Generalisation says which values may vary from run to run.
type Generalisation struct {
	Parameters []string `yaml:"parameters" json:"parameters"`
	Variants   []any    `yaml:"variants" json:"variants"`
}

// Execution says how the methods are run.
type Execution struct {
	Mode             string         `yaml:"mode" json:"mode"`
	Order            []string       `yaml:"order" json:"order"`
	StopOnFailure    bool           `yaml:"stop_on_failure" json:"stop_on_failure"`
	ExternalDecision map[string]any `yaml:"external_decision,omitempty" json:"external_decision,omitempty"`
}

// Provenance says where a competence came from.
type Provenance struct {
	PersistID       string         `yaml:"persist_id" json:"persist_id"`
	ClientPersistID string         `yaml:"client_persist_id" json:"client_persist_id"`
	MachineID       string         `yaml:"machine_id" json:"machine_id"`
	SessionID       string         `yaml:"session_id" json:"session_id"`
	SourcePhase     string         `yaml:"source_phase" json:"source_phase"`
	Partial         bool           `yaml:"partial" json:"partial"`
	DropoutReason   string         `yaml:"dropout_reason,omitempty" json:"dropout_reason,omitempty"`
	Annotations     map[string]any `yaml:"annotations_semantiques" json:"annotations_semantiques"`
}

// Stamp renders a time as every file and answer does: RFC 3339, UTC,
// milliseconds.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
