package messaging

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

// Envelope is a notification on its way: notify v1 of ARKA §10. Either Session
// is named, or Project and ToAgent are, from which the session follows.
type Envelope struct {
	Type          string // "notify"
	V             int    // 1
	MessageID     ID
	TS            time.Time // to the millisecond
	Session       string
	Project       string
	ToAgent       string
	Provider      string
	SessionPrefix string
	Resource      Resource
	Constraints   []json.RawMessage
	Metadata      map[string]json.RawMessage
	Sender        string
}

// Resource points at what is to be read.
type Resource struct {
	Pointer string `json:"pointer"`
}

// wire is the envelope's JSON; the order of its fields is the canonical one.
type wire struct {
	Type          string                     `json:"type"`
	V             int                        `json:"v"`
	MessageID     ID                         `json:"message_id"`
	TS            json.RawMessage            `json:"ts"`
	Session       string                     `json:"session,omitempty"`
	Project       string                     `json:"project,omitempty"`
	ToAgent       string                     `json:"to_agent,omitempty"`
	Provider      string                     `json:"provider"`
	SessionPrefix string                     `json:"session_prefix"`
	Resource      Resource                   `json:"resource"`
	Constraints   []json.RawMessage          `json:"constraints,omitempty"`
	Metadata      map[string]json.RawMessage `json:"metadata,omitempty"`
	Sender        string                     `json:"sender,omitempty"`
}

// ParseEnvelope reads one envelope strictly. The error is Invalid and lists all
// problems, each with its JSON field.
func ParseEnvelope(data []byte) (Envelope, error) {
	if problems := checkJSON(data); problems != nil {
		return Envelope{}, invalidEnvelope(problems)
	}
	w, problems := unpack(data)
	ts, err := parseTS(w.TS)
	if err != nil {
		problems = append(problems, errkind.Problem{Field: "ts", Message: err.Error()})
	}
	e := Envelope{
		Type: w.Type, V: w.V, MessageID: w.MessageID, TS: ts, Session: w.Session, Project: w.Project,
		ToAgent: w.ToAgent, Provider: w.Provider, SessionPrefix: w.SessionPrefix, Resource: w.Resource,
		Constraints: w.Constraints, Metadata: w.Metadata, Sender: w.Sender,
	}
	for _, p := range e.Validate() {
		if !mentions(problems, p.Field) {
			problems = append(problems, p)
		}
	}
	if problems != nil {
		return Envelope{}, invalidEnvelope(problems)
	}
	return e, nil
}

func invalidEnvelope(problems []errkind.Problem) error {
	return errkind.New(errkind.Invalid, "the envelope is not valid").WithProblems(problems...)
}

// unpack decodes each member by itself, so that one wrong type does not hide
// the next.
func unpack(data []byte) (w wire, problems []errkind.Problem) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return w, []errkind.Problem{{Message: "want a JSON object"}}
	}
	fields := map[string]any{
		"type": &w.Type, "v": &w.V, "message_id": &w.MessageID, "ts": &w.TS, "session": &w.Session,
		"project": &w.Project, "to_agent": &w.ToAgent, "provider": &w.Provider, "session_prefix": &w.SessionPrefix,
		"constraints": &w.Constraints, "metadata": &w.Metadata, "sender": &w.Sender,
	}
	for _, name := range sortedKeys(members) {
		into, known := fields[name]
		switch {
		case name == "resource":
			problems = append(problems, w.unpackResource(members[name])...)
		case !known:
			problems = append(problems, errkind.Problem{Field: plaintext.EscapeLine(shorten(name)), Message: "unknown field"})
		case json.Unmarshal(members[name], into) != nil:
			problems = append(problems, errkind.Problem{Field: name, Message: "want " + jsonNoun(into)})
		}
	}
	return w, problems
}

// unpackResource compares the name exactly; encoding/json would take "Pointer".
func (w *wire) unpackResource(data json.RawMessage) []errkind.Problem {
	var members map[string]json.RawMessage
	err := json.Unmarshal(data, &members)
	if err == nil && len(members) == 1 {
		err = json.Unmarshal(members["pointer"], &w.Resource.Pointer)
	}
	if err != nil || len(members) > 1 {
		return []errkind.Problem{{Field: "resource", Message: `want an object {"pointer": "…"} and nothing else`}}
	}
	return nil
}

func jsonNoun(into any) string {
	switch into.(type) {
	case *int:
		return "a whole number"
	case *[]json.RawMessage:
		return "an array"
	case *map[string]json.RawMessage:
		return "an object"
	}
	return "a string"
}

// parseTS reads epoch milliseconds or ISO 8601; finer than a millisecond is cut.
func parseTS(raw json.RawMessage) (time.Time, error) {
	const lastMS = 253402300799999 // the end of year 9999
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, fmt.Errorf("missing; want epoch milliseconds or ISO 8601")
	}
	if ms, err := strconv.ParseInt(string(raw), 10, 64); err == nil && ms > 0 && ms <= lastMS {
		return time.UnixMilli(ms).UTC(), nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		for _, form := range []string{time.RFC3339Nano, isoZ, "2006-01-02T15:04:05.999999999Z0700"} {
			if t, err := time.Parse(form, text); err == nil && t.UnixMilli() > 0 && t.UnixMilli() <= lastMS {
				return t.UTC().Truncate(time.Millisecond), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("want epoch milliseconds or ISO 8601 with its zone")
}

// Validate lists what ARKA §10 demands and the envelope lacks.
func (e Envelope) Validate() []errkind.Problem {
	var v validator
	if e.Type != "notify" {
		v.add("type", "%q is not valid; want \"notify\"", shorten(e.Type))
	}
	if e.V != 1 {
		v.add("v", "want 1")
	}
	v.need("message_id", string(e.MessageID), ValidID, wordForm)
	if e.TS.IsZero() {
		v.add("ts", "missing; want epoch milliseconds or ISO 8601")
	}
	if e.Session == "" && (e.Project == "" || e.ToAgent == "") {
		v.add("session", "missing; want session, or project and to_agent")
	}
	v.optional("session", e.Session, validSession, "a tmux session's name of at most 200 printable characters")
	v.optional("project", e.Project, ValidRole, wordForm)
	v.optional("to_agent", e.ToAgent, ValidRole, wordForm)
	v.need("provider", e.Provider, ValidRole, wordForm)
	v.need("session_prefix", e.SessionPrefix, ValidRole, wordForm)
	v.need("resource.pointer", e.Resource.Pointer, validPointer, pointerForm)
	v.optional("sender", e.Sender, ValidRole, wordForm)
	return v.found
}

func validSession(s string) bool { return len(s) <= 200 && plaintext.CheckLine(s) == nil }

// JSON is the canonical form: fields in one order, ts in milliseconds, objects
// with sorted keys, no white space. Equal envelopes give equal bytes.
func (e Envelope) JSON() ([]byte, error) {
	w := wire{
		Type: e.Type, V: e.V, MessageID: e.MessageID, TS: strconv.AppendInt(nil, e.TS.UnixMilli(), 10),
		Session: e.Session, Project: e.Project, ToAgent: e.ToAgent, Provider: e.Provider,
		SessionPrefix: e.SessionPrefix, Resource: e.Resource, Sender: e.Sender,
	}
	err := w.setOptional(e)
	var data []byte
	if err == nil {
		data, err = json.Marshal(w)
	}
	if err != nil {
		return nil, errkind.New(errkind.Invalid, "the envelope cannot be written as JSON").Wrap(err)
	}
	return data, nil
}

func (w *wire) setOptional(e Envelope) error {
	for _, c := range e.Constraints {
		item, err := canonical(c)
		if err != nil {
			return err
		}
		w.Constraints = append(w.Constraints, item)
	}
	for name, m := range e.Metadata {
		item, err := canonical(m)
		if err != nil {
			return err
		}
		if w.Metadata == nil {
			w.Metadata = make(map[string]json.RawMessage, len(e.Metadata))
		}
		w.Metadata[name] = item
	}
	return nil
}

// Pointer says what a resource pointer leads to: a message or a role's inbox.
type Pointer struct {
	ID   ID   // ptr:msg:ID
	Role Role // arkamsg://inbox/ROLE
}

const pointerForm = "ptr:msg:ID or arkamsg://inbox/ROLE"

// ParsePointer reads ptr:msg:ID or arkamsg://inbox/ROLE.
func ParsePointer(s string) (Pointer, error) {
	if id, ok := strings.CutPrefix(s, "ptr:msg:"); ok && ValidID(id) {
		return Pointer{ID: ID(id)}, nil
	}
	if role, ok := strings.CutPrefix(s, "arkamsg://inbox/"); ok && ValidRole(role) {
		return Pointer{Role: Role(role)}, nil
	}
	return Pointer{}, errkind.New(errkind.Invalid, "%q is not a pointer; want %s", shorten(s), pointerForm)
}

func validPointer(s string) bool {
	_, err := ParsePointer(s)
	return err == nil
}

// String is the pointer as it is written.
func (p Pointer) String() string {
	if p.ID != "" {
		return "ptr:msg:" + string(p.ID)
	}
	return "arkamsg://inbox/" + string(p.Role)
}
