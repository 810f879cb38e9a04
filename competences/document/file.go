package document

import (
	"bytes"
	_ "embed"
	"os"
	"path"
	"reflect"
	"strings"
	"sync"

	"arkamsg/competences/primitives"
	"arkamsg/competences/schema"
	"arkamsg/competences/slug"
	"arkamsg/competences/strictjson"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

// MaxBytes bounds a competence file; a persist of 1 MiB stays well below.
const MaxBytes = 4 << 20

var limits = strictyaml.Limits{MaxBytes: MaxBytes, MaxNodes: 150_000, MaxDepth: 48}

//go:embed competence.schema.yaml
var schemaFile []byte

// Schema is the one schema of a competence, compiled.
var Schema = sync.OnceValue(func() *schema.Schema {
	s, err := schema.Compile("competence", SchemaDocument())
	if err != nil {
		panic(err) // embedded: part of the program; a test reads it
	}
	return s
})

// SchemaDocument is the schema as a generic tree, for /openapi.json.
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

// Check lists what the schema and the registry have against a document.
func Check(d *Document, reg *primitives.Registry) []errkind.Problem {
	problems := Schema().Validate(mustGeneric(d), nil)
	for i, m := range d.Methods {
		at := "/methods/" + itoa(i)
		if !reg.Known(primitives.Kind(m.Kind)) {
			problems = append(problems, errkind.Problem{Field: at + "/kind", Message: "unknown kind"})
			continue
		}
		for _, p := range reg.Check(primitives.Kind(m.Kind), m.Params, nil) {
			problems = append(problems, errkind.Problem{Field: at + "/params" + p.Field, Message: p.Message})
		}
	}
	return problems
}

// Encode writes the document, after the schema said yes, and proves that
// [Decode] gives the same document back. Whoever finds these very bytes on disk
// later need not decode them again.
func Encode(d *Document) ([]byte, error) {
	generic := mustGeneric(d)
	if problems := Schema().Validate(generic, nil); len(problems) > 0 {
		return nil, errkind.New(errkind.Invalid, "the competence does not fit its schema").WithProblems(problems...)
	}
	data, doc, err := strictyaml.EncodeDoc(d, limits)
	if err != nil {
		return nil, err
	}
	// a tree that is the document's fits the schema as the document did
	var tree map[string]any
	if problems := doc.Decode(&tree); len(problems) > 0 || !reflect.DeepEqual(strictjson.Normal(tree), generic) {
		return nil, errkind.New(errkind.Invalid, "the competence would not read back as it is").WithProblems(problems...)
	}
	return data, nil
}

// Decode reads a document strictly: bounded, unknown keys refused, schema
// checked. Its error is errkind.Invalid with every problem.
func Decode(data []byte) (*Document, error) {
	doc, problems := strictyaml.Parse(data, limits)
	var d Document
	if len(problems) == 0 {
		problems = decode(doc, &d)
	}
	if len(problems) > 0 {
		return nil, errkind.New(errkind.Invalid, "this is not a competence").WithProblems(problems...)
	}
	d.normalise()
	return &d, nil
}

// decode asks the schema about the document as it stands (a struct would hide
// that a field is absent), then fills the struct.
func decode(doc *strictyaml.Doc, d *Document) []errkind.Problem {
	var tree map[string]any
	if problems := doc.Decode(&tree); len(problems) > 0 {
		return problems
	}
	if problems := Schema().Validate(tree, nil); len(problems) > 0 {
		return problems
	}
	return doc.Decode(d)
}

// Load reads <folder>/<slug>.yaml from the catalogue (seed §3: the round trip
// after a write uses this very function). The id inside must be the file's.
func Load(root *os.Root, folder State, id slug.Slug) (*Document, error) {
	name := File(folder, id)
	data, err := durable.ReadFile(root, name, MaxBytes)
	if err != nil {
		return nil, err
	}
	d, err := Decode(data)
	if err != nil {
		return nil, err
	}
	if d.ID != id {
		return nil, errkind.New(errkind.Invalid, "%s holds another competence", name).
			WithProblems(errkind.Problem{Field: "/id", Message: "differs from the name of the file"})
	}
	if d.LearningState.Folder() != path.Dir(name) {
		return nil, errkind.New(errkind.Invalid, "%s lies in the wrong folder", name).
			WithProblems(errkind.Problem{Field: "/learning_state", Message: "says " + string(d.LearningState)})
	}
	return d, nil
}

// Same reports whether two documents mean the same.
func Same(a, b *Document) bool {
	ca, errA := strictjson.Canonical(mustGeneric(a))
	cb, errB := strictjson.Canonical(mustGeneric(b))
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// normalise gives absent lists and maps their empty form, so that a document
// compares and encodes the same however its file spelled "nothing".
func (d *Document) normalise() {
	orEmpty(&d.Parameters)
	orEmpty(&d.Preconditions)
	orEmpty(&d.Methods)
	orEmpty(&d.FailureLog)
	orEmpty(&d.Promotion.History)
	orEmpty(&d.Generalisation.Parameters)
	orEmpty(&d.Generalisation.Variants)
	orEmpty(&d.MethodsExecution.Order)
	if d.SuccessMarker == nil {
		d.SuccessMarker = map[string]any{}
	}
	if d.Provenance.Annotations == nil {
		d.Provenance.Annotations = map[string]any{}
	}
	for i := range d.Methods {
		if d.Methods[i].Params == nil {
			d.Methods[i].Params = map[string]any{}
		}
	}
}

func orEmpty[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// mustGeneric cannot fail on what JSON or YAML decoding produced; what else
// could reach it becomes a document that no schema accepts.
func mustGeneric(d *Document) any {
	v, err := strictjson.Of(d)
	if err != nil {
		return strings.ToValidUTF8(err.Error(), "")
	}
	return v
}
