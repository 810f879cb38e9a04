package primitives

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"arkamsg/competences/schema"
	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

//go:embed primitives.yaml
var builtin []byte

// Kind names a primitive.
type Kind string

// Primitive is one entry of the registry.
type Primitive struct {
	Kind   Kind           `json:"kind"`
	Title  string         `json:"title"`
	Params map[string]any `json:"params"` // JSON Schema of the parameters

	schema *schema.Schema
}

// Registry is a closed set of primitives. It is read-only once made.
type Registry struct {
	byKind map[Kind]*Primitive
	kinds  []Kind
}

// Default is the registry built into the program.
var Default = sync.OnceValue(func() *Registry {
	r, err := Parse(builtin)
	if err != nil {
		panic(err) // the embedded file is part of the program; a test reads it
	}
	return r
})

type entry struct {
	Title    string         `yaml:"title"`
	Required []string       `yaml:"required"`
	Params   map[string]any `yaml:"params"`
}

// Parse reads a registry file. Its error is errkind.Invalid.
func Parse(data []byte) (*Registry, error) {
	var f struct {
		Version    int              `yaml:"version"`
		Defs       map[string]any   `yaml:"defs"`
		Primitives map[string]entry `yaml:"primitives"`
	}
	doc, problems := strictyaml.Parse(data, strictyaml.Limits{})
	if len(problems) == 0 {
		problems = doc.Decode(&f)
	}
	if len(problems) > 0 {
		return nil, errkind.New(errkind.Invalid, "the primitives registry is not valid").WithProblems(problems...)
	}
	r := &Registry{byKind: map[Kind]*Primitive{}}
	for name, e := range f.Primitives {
		p, err := e.compile(Kind(name), f.Defs)
		if err != nil {
			return nil, err
		}
		r.byKind[p.Kind] = p
		r.kinds = append(r.kinds, p.Kind)
	}
	slices.Sort(r.kinds)
	return r, nil
}

func (e entry) compile(k Kind, defs map[string]any) (*Primitive, error) {
	params := map[string]any{
		"type": "object", "additionalProperties": false, "properties": e.Params, "$defs": defs,
	}
	if len(e.Params) == 0 {
		params["properties"] = map[string]any{}
	}
	if len(e.Required) > 0 {
		params["required"] = e.Required
	}
	s, err := schema.Compile("primitive/"+string(k), params)
	if err != nil {
		return nil, fmt.Errorf("primitive %s: %w", k, err)
	}
	return &Primitive{Kind: k, Title: e.Title, Params: params, schema: s}, nil
}

// Kinds lists every kind, sorted.
func (r *Registry) Kinds() []Kind { return slices.Clone(r.kinds) }

// All lists every primitive, sorted by kind.
func (r *Registry) All() []Primitive {
	out := make([]Primitive, 0, len(r.kinds))
	for _, k := range r.kinds {
		out = append(out, *r.byKind[k])
	}
	return out
}

// Known reports whether the kind is in the set.
func (r *Registry) Known(k Kind) bool { return r.byKind[k] != nil }

// Check lists what is wrong with the parameters of a known kind, each Field a
// JSON pointer below the parameters (see schema.Validate for token).
func (r *Registry) Check(k Kind, params any, token func(string) string) []errkind.Problem {
	p := r.byKind[k]
	if p == nil {
		return []errkind.Problem{{Message: "unknown kind"}}
	}
	if params == nil {
		params = map[string]any{}
	}
	return p.schema.Validate(params, token)
}
