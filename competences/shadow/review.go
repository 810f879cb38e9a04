package shadow

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"arkamsg/competences/refusal"
	"arkamsg/competences/schema"
	"arkamsg/competences/strictjson"
	"arkamsg/internal/clients"
	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/internal/sqlite"
	"arkamsg/internal/strictyaml"
)

//go:embed requests.schema.yaml
var schemaFile []byte

// SchemaDocument is the schema of all bodies as a generic tree, for
// /openapi.json.
func SchemaDocument() map[string]any {
	var tree map[string]any
	doc, problems := strictyaml.Parse(schemaFile, strictyaml.Limits{})
	if len(problems) == 0 {
		problems = doc.Decode(&tree)
	}
	if len(problems) > 0 {
		panic(problems[0].String()) // embedded: part of the program; a test reads it
	}
	return tree
}

var bodies = sync.OnceValue(func() map[string]*schema.Schema {
	out := map[string]*schema.Schema{}
	for _, name := range []string{"start", "stop", "events", "feedback", "build"} {
		s, err := schema.CompileAt("shadow", SchemaDocument(), "/$defs/"+name)
		if err != nil {
			panic(err) // embedded: part of the program; a test reads it
		}
		out[name] = s
	}
	return out
})

// parse reads a body strictly: JSON, schema, text, personal data.
func (s *Store) parse(name string, raw []byte, into any) error {
	body, err := strictjson.Object(raw, strictjson.Default)
	if err != nil {
		return refusal.New(refusal.InvalidJSON, errkind.Invalid, "%v", err)
	}
	problems := bodies()[name].Validate(body, s.net().Token)
	problems = append(problems, texts("", body, s.net().Token)...)
	if len(problems) > 0 {
		return refusal.New(refusal.SchemaInvalid, errkind.Invalid, "the body does not fit the schema").With(problems...)
	}
	kept := map[string]any{}
	for k, v := range body {
		if k != "machine_id" {
			kept[k] = v
		}
	}
	if found := s.net().Scan("", kept); len(found) > 0 {
		return refusal.PII(found)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	return dec.Decode(into)
}

// texts finds characters that may not travel.
func texts(path string, v any, token func(string) string) (out []errkind.Problem) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			out = append(out, texts(path+"/"+token(k), e, token)...)
		}
	case []any:
		for i, e := range v {
			out = append(out, texts(at(path, i), e, token)...)
		}
	case string:
		if bad := plaintext.Check(v); bad != nil {
			out = append(out, errkind.Problem{Field: path, Message: "holds " + bad.Error()})
		}
	}
	return out
}

func at(path string, i int) string { return fmt.Sprintf("%s/%d", path, i) }

func decode(batch []json.RawMessage) ([]Event, error) {
	out := make([]Event, len(batch))
	for i, raw := range batch {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Understanding says what a session means so far.
func (s *Store) Understanding(ctx context.Context, p clients.Principal, id string) (u *Understanding, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		_, u, err = understand(tx, p, id, nil)
		return err
	})
	return u, asRefusal(err)
}

// understand reads everything about a session; extra is a revision to try.
func understand(tx *sqlite.Tx, p clients.Principal, id string, extra []Change) (Session, *Understanding, error) {
	now, err := session(tx, p, id)
	if err != nil {
		return now, nil, err
	}
	evs, err := events(tx, id, 0)
	if err != nil {
		return now, nil, err
	}
	past, err := feedback(tx, id)
	if err != nil {
		return now, nil, err
	}
	if extra != nil {
		past = append(past, extra)
	}
	u, err := Understand(now, evs, past)
	return now, u, err
}

func feedback(tx *sqlite.Tx, id string) (out [][]Change, err error) {
	rows, err := tx.Query(`SELECT changes FROM shadow_feedback WHERE session = ? ORDER BY revision`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, err
		}
		var changes []Change
		if err := json.Unmarshal(raw, &changes); err != nil {
			return nil, err
		}
		out = append(out, changes)
	}
	return out, rows.Err()
}

// Feedback adds a revision of corrections, all of them or none.
func (s *Store) Feedback(ctx context.Context, p clients.Principal, raw []byte) (u *Understanding, err error) {
	var req struct {
		SessionID string   `json:"session_id"`
		Revision  int64    `json:"revision"`
		Changes   []Change `json:"changes"`
	}
	if err := s.parse("feedback", raw, &req); err != nil {
		return nil, err
	}
	err = s.write(ctx, p, func(tx *sqlite.Tx) error {
		now, err := session(tx, p, req.SessionID)
		if err != nil {
			return err
		}
		if err := now.reviewable(req.Revision); err != nil {
			return err
		}
		if _, u, err = understand(tx, p, req.SessionID, req.Changes); err != nil {
			return err
		}
		changes, err := json.Marshal(req.Changes)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO shadow_feedback(session, revision, changes) VALUES(?,?,?)`, now.ID, now.Revision+1, string(changes)); err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE shadow_session SET revision = revision + 1 WHERE id = ?`, now.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// reviewable: the person must have seen the revision that they correct or
// build.
func (s Session) reviewable(revision int64) error {
	if s.State != "stopped" {
		return refusal.New(refusal.SessionNotEnded, errkind.Conflict, "this session is still open; stop it first")
	}
	if revision != s.Revision {
		r := refusal.New(refusal.StaleRevision, errkind.Conflict, "the understanding has moved on to revision %d", s.Revision)
		r.Expected = s.Revision
		return r
	}
	return nil
}

// Build gives what a persist needs. It changes nothing.
func (s *Store) Build(ctx context.Context, p clients.Principal, raw []byte) (b *Built, err error) {
	var req struct {
		SessionID string `json:"session_id"`
		Revision  *int64 `json:"revision"`
	}
	if err := s.parse("build", raw, &req); err != nil {
		return nil, err
	}
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		now, u, err := understand(tx, p, req.SessionID, nil)
		if err != nil {
			return err
		}
		if req.Revision == nil {
			req.Revision = &now.Revision
		}
		if err := now.reviewable(*req.Revision); err != nil {
			return err
		}
		b, err = Build(now, u)
		return err
	})
	return b, asRefusal(err)
}
