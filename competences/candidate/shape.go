package candidate

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"sync"

	"arkamsg/competences/pii"
	"arkamsg/competences/schema"
	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/internal/strictyaml"
)

//go:embed payload.schema.yaml
var schemaFile []byte

// Bounds of every text and key of a body, whatever the schema says of it.
const (
	maxText = 16 << 10 // bytes
	maxKey  = 200
)

var payload = sync.OnceValue(func() *schema.Schema {
	s, err := schema.Compile("persist", SchemaDocument())
	if err != nil {
		panic(err) // embedded: part of the program; a test reads it
	}
	return s
})

// SchemaDocument is the schema of the body as a generic tree, for
// /openapi.json.
func SchemaDocument() map[string]any {
	var tree map[string]any
	doc, problems := strictyaml.Parse(schemaFile, strictyaml.Limits{})
	if len(problems) == 0 {
		problems = doc.Decode(&tree)
	}
	if len(problems) > 0 {
		panic(problems[0].String())
	}
	return tree
}

// shape lists what the schema has against a body, and every text that may not
// travel. The name is judged by its own check.
func shape(body map[string]any, d *pii.Detector) []errkind.Problem {
	problems := payload().Validate(body, d.Token)
	for _, key := range slices.Sorted(maps.Keys(body)) {
		if key != "name" {
			problems = texts(problems, "/"+d.Token(key), body[key], d)
		}
	}
	return problems[:min(len(problems), 50)]
}

func texts(out []errkind.Problem, at string, v any, d *pii.Detector) []errkind.Problem {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			token := "*"
			if len(k) > maxKey {
				out = append(out, errkind.Problem{Field: at + "/*", Message: "a key is too long"})
			} else if bad := plaintext.CheckLine(k); bad != nil {
				out = append(out, errkind.Problem{Field: at + "/*", Message: "a key holds " + bad.Error()})
			} else {
				token = d.Token(k)
			}
			out = texts(out, at+"/"+token, v[k], d)
		}
	case []any:
		for i, e := range v {
			out = texts(out, at+"/"+strconv.Itoa(i), e, d)
		}
	case string:
		if len(v) > maxText {
			out = append(out, errkind.Problem{Field: at, Message: "is longer than 16 KiB"})
		} else if bad := plaintext.Check(v); bad != nil {
			out = append(out, errkind.Problem{Field: at, Message: "holds " + bad.Error()})
		}
	}
	return out
}
