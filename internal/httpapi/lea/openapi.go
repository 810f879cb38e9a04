package lea

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"arkamsg/competences/candidate"
	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
	"arkamsg/competences/shadow"
	"arkamsg/internal/strictyaml"
)

//go:embed answers.yaml
var answersFile []byte

type node = map[string]any

// OpenAPI is this door's part of /openapi.json: paths, components and tags. The
// schemas of bodies and files are the very ones that judge them.
func OpenAPI() ([]byte, error) {
	schemas, err := schemas()
	if err != nil {
		return nil, err
	}
	return json.Marshal(node{
		"tags": []any{
			node{"name": "competences", "description": "What machines learned."},
			node{"name": "shadow", "description": "Watching a person work, once."},
		},
		"paths":      paths(),
		"components": node{"schemas": schemas, "responses": responses()},
	})
}

func schemas() (node, error) {
	doc, problems := strictyaml.Parse(answersFile, strictyaml.Limits{})
	out := node{}
	if len(problems) == 0 {
		problems = doc.Decode(&out)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("answers.yaml: %s", problems[0])
	}
	codes := make([]any, len(refusal.Codes))
	for i, c := range refusal.Codes {
		codes[i] = string(c)
	}
	out["LeaProblem"].(node)["properties"].(node)["code"] = node{
		"type": "string", "description": "One of " + strings.Trim(fmt.Sprint(refusal.Codes), "[]") + ", or a code of the server itself (lower case).",
	}
	hoist(out, "Persist", candidate.SchemaDocument(), "PersistRequest")
	hoist(out, "Competence", document.SchemaDocument(), "Competence")
	hoist(out, "Shadow", shadow.SchemaDocument(), "")
	return out, nil
}

// hoist moves a schema and its $defs to the components, where an OpenAPI
// document keeps what is referred to.
func hoist(out node, prefix string, doc node, name string) {
	defs, _ := doc["$defs"].(node)
	for key, def := range defs {
		out[prefix+camel(key)] = moved(def, prefix)
	}
	if name == "" {
		return
	}
	top := moved(doc, prefix).(node)
	for _, key := range []string{"$defs", "$schema", "title"} {
		delete(top, key)
	}
	out[name] = top
}

// moved copies a schema with its references pointing to the components.
func moved(v any, prefix string) any {
	switch v := v.(type) {
	case node:
		out := node{}
		for k, e := range v {
			if ref, ok := e.(string); k == "$ref" && ok {
				e = "#/components/schemas/" + prefix + camel(strings.TrimPrefix(ref, "#/$defs/"))
			}
			out[k] = moved(e, prefix)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = moved(e, prefix)
		}
		return out
	}
	return v
}

func camel(key string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(key, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func ref(section, name string) node { return node{"$ref": "#/components/" + section + "/" + name} }

// problems are the refusals of this door, by status.
var problems = map[int]string{
	400: "The body cannot be accepted; every problem of the first check that failed is listed.",
	401: "No bearer token, or one that is unknown, expired or revoked.",
	403: "The token belongs to another machine, or a foreign Host or Origin.",
	404: "There is no such thing, or it belongs to another machine.",
	408: "The body did not arrive in time.",
	409: "It clashes with what is there: the name, the key, the session, the revision.",
	413: "The body is larger than 1 MiB.",
	415: "The body is not declared as application/json.",
	405: "The path does not take this method.",
	422: "The file of this name is not a competence.",
	429: "Too many persists of this machine within a minute.",
	500: "It could not be kept (nothing is left of it), or the outcome is not known yet.",
	503: "It may succeed later.",
}

func responses() node {
	out := node{}
	for status, text := range problems {
		headers := node{"X-Correlation-Id": ref("headers", "CorrelationId")}
		if status == http.StatusTooManyRequests {
			headers["Retry-After"] = node{"description": "Whole seconds.", "required": true, "schema": node{"type": "integer", "minimum": 1}}
		}
		if status == http.StatusUnauthorized {
			headers["WWW-Authenticate"] = node{"description": "Bearer.", "schema": node{"type": "string"}}
		}
		out[responseName(status)] = node{
			"description": text, "headers": headers,
			"content": node{"application/problem+json": node{"schema": ref("schemas", "LeaProblem")}},
		}
	}
	return out
}

func responseName(status int) string { return fmt.Sprintf("Lea%d", status) }

func paths() node {
	out := node{}
	for _, op := range operations {
		if out[op.path] == nil {
			out[op.path] = node{}
		}
		out[op.path].(node)[strings.ToLower(op.method)] = op.describe()
	}
	return out
}

func (op operation) describe() node {
	tag := "competences"
	if strings.HasPrefix(op.path, "/api/v1/shadow/") {
		tag = "shadow"
	}
	d := node{
		"operationId": op.id, "summary": op.summary, "tags": []any{tag},
		"security": []any{node{"bearer": []any{}}}, "responses": op.responses(),
	}
	if op.body != "" {
		d["requestBody"] = node{"required": true, "content": node{"application/json": node{"schema": ref("schemas", op.body)}}}
	}
	if parameters := op.parameters(); len(parameters) > 0 {
		d["parameters"] = parameters
	}
	return d
}

func (op operation) parameters() []any {
	var out []any
	if strings.Contains(op.path, "{id}") {
		out = append(out, node{"name": "id", "in": "path", "required": true, "description": "A competence_id.", "schema": node{"type": "string"}})
	}
	if op.query != "" {
		out = append(out, node{"name": op.query, "in": "query", "required": true, "description": "Of the session.", "schema": node{"type": "string"}})
	}
	return out
}

// replayHeaders may come with the answer to a repeated persist.
var replayHeaders = map[string]string{
	"Idempotent-Replay":           "true: this is the answer to an earlier request with the same key.",
	"Idempotent-Payload-Mismatch": "true: that request had another body.",
	"Warning":                     "The same, for people.",
}

func (op operation) responses() node {
	out := node{}
	for status, schema := range op.success {
		headers := node{"X-Correlation-Id": ref("headers", "CorrelationId")}
		if op.id == "persistCandidate" && status == http.StatusOK {
			for name, text := range replayHeaders {
				headers[name] = node{"description": text, "schema": node{"type": "string"}}
			}
		}
		out[fmt.Sprint(status)] = node{
			"description": http.StatusText(status) + ".", "headers": headers,
			"content": node{"application/json": node{"schema": ref("schemas", schema)}},
		}
	}
	shared := []int{401, 403, 405, 500, 503}
	if op.body != "" {
		shared = append(shared, 400, 408, 413, 415)
	}
	for _, status := range append(shared, op.refusals...) {
		out[fmt.Sprint(status)] = ref("responses", responseName(status))
	}
	return out
}
