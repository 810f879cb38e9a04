package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"arkamsg/competences/strictjson"
	"arkamsg/internal/errkind"
)

// Schema is a compiled JSON Schema.
type Schema struct{ s *jsonschema.Schema }

// maxProblems bounds an answer; whoever has more mends these first.
const maxProblems = 50

// Compile compiles a schema given as a generic tree (from JSON or YAML). The
// name appears in errors only; nothing is ever loaded from elsewhere.
func Compile(name string, doc any) (*Schema, error) {
	return CompileAt(name, doc, "")
}

// CompileAt compiles the part of a document that a JSON pointer names, so that
// its references into the rest resolve.
func CompileAt(name string, doc any, pointer string) (*Schema, error) {
	generic, err := strictjson.Of(doc)
	if err != nil {
		return nil, errkind.New(errkind.Internal, "schema %s", name).Wrap(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no files, no network
	c.AssertFormat()
	url := "mem:///" + name
	if err := c.AddResource(url, generic); err != nil {
		return nil, errkind.New(errkind.Invalid, "schema %s", name).Wrap(err)
	}
	if pointer != "" {
		url += "#" + pointer
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, errkind.New(errkind.Invalid, "schema %s", name).Wrap(err)
	}
	return &Schema{s}, nil
}

// Validate lists what is wrong with v, in the order of the document, each
// Field a JSON pointer whose keys went through token (for masking and
// escaping; nil for Escape).
func (s *Schema) Validate(v any, token func(string) string) []errkind.Problem {
	err, ok := s.s.Validate(strictjson.Normal(v)).(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	if token == nil {
		token = Escape
	}
	out := leaves(nil, err, token)
	slices.SortStableFunc(out, func(a, b errkind.Problem) int { return strings.Compare(a.Field, b.Field) })
	out = slices.Compact(out)
	return out[:min(len(out), maxProblems)]
}

// Escape makes a key a reference token of a JSON pointer (RFC 6901).
func Escape(key string) string { return escaper.Replace(key) }

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func leaves(out []errkind.Problem, e *jsonschema.ValidationError, token func(string) string) []errkind.Problem {
	for _, c := range e.Causes {
		out = leaves(out, c, token)
	}
	if len(e.Causes) > 0 {
		return out
	}
	at := ""
	for _, key := range e.InstanceLocation {
		at += "/" + token(key)
	}
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, key := range extra.Properties {
			out = append(out, errkind.Problem{Field: at + "/" + token(key), Message: "unknown field"})
		}
		return out
	}
	return append(out, errkind.Problem{Field: at, Message: message(e.ErrorKind)})
}

// message says what a value must be; it is built from the schema alone.
func message(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Required:
		return "is missing " + strings.Join(k.Missing, ", ")
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		return "must be one of " + list(k.Want)
	case *kind.Const:
		return "must be " + fmt.Sprint(k.Want)
	case *kind.Pattern:
		return "must match " + k.Want
	case *kind.Format:
		return "must be a valid " + k.Want
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d entries", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d entries", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d fields", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d fields", k.Want)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.UniqueItems:
		return "must not hold the same entry twice"
	}
	return "does not fit the schema (" + strings.Join(k.KeywordPath(), "/") + ")"
}

func list(vs []any) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}
