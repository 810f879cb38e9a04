package openapitest

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// resource is the name under which the schema compiler knows the document.
const resource = "openapi.json"

// reader walks the document by JSON pointers.
type reader struct {
	root     any
	compiler *jsonschema.Compiler
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func under(pointer string, keys ...string) string {
	for _, k := range keys {
		pointer += "/" + escape.Replace(k)
	}
	return pointer
}

// object is the object at the pointer, or an empty one.
func (r *reader) object(pointer string) map[string]any {
	value := r.root
	for _, key := range strings.Split(pointer, "/")[1:] {
		m, _ := value.(map[string]any)
		value = m[unescape.Replace(key)]
	}
	m, _ := value.(map[string]any)
	return m
}

// resolve follows a reference, if there is one, to where the thing itself is.
func (r *reader) resolve(pointer string) (string, error) {
	ref, ok := r.object(pointer)["$ref"].(string)
	if !ok {
		return pointer, nil
	}
	target, ok := strings.CutPrefix(ref, "#")
	if !ok || r.object(target) == nil {
		return "", fmt.Errorf("%s: reference %q leads nowhere", pointer, ref)
	}
	return r.resolve(target)
}

func (r *reader) operation(path, method string) (operation, error) {
	op := operation{
		method: strings.ToUpper(method), path: strings.Split(path, "/"), responses: map[string]response{},
	}
	at := under("/paths", path, method, "responses")
	for status := range r.object(at) {
		var err error
		if op.responses[status], err = r.response(under(at, status)); err != nil {
			return op, err
		}
	}
	return op, nil
}

func (r *reader) response(pointer string) (response, error) {
	at, err := r.resolve(pointer)
	if err != nil {
		return response{}, err
	}
	resp := response{content: map[string]*jsonschema.Schema{}}
	if resp.headers, err = r.requiredHeaders(under(at, "headers")); err != nil {
		return response{}, err
	}
	for media := range r.object(under(at, "content")) {
		schema := under(at, "content", media, "schema")
		if resp.content[media], err = r.compiler.Compile(resource + "#" + schema); err != nil {
			return response{}, err
		}
	}
	return resp, nil
}

func (r *reader) requiredHeaders(pointer string) ([]string, error) {
	var required []string
	for name := range r.object(pointer) {
		at, err := r.resolve(under(pointer, name))
		if err != nil {
			return nil, err
		}
		if must, _ := r.object(at)["required"].(bool); must {
			required = append(required, name)
		}
	}
	return required, nil
}
