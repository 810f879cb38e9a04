package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Spec is a document whose responses can be checked against.
type Spec struct {
	operations []operation
}

type operation struct {
	method    string
	path      []string // segments; "{…}" takes any
	responses map[string]response
}

type response struct {
	headers []string // required ones
	content map[string]*jsonschema.Schema
}

// Parse reads an OpenAPI 3.1 document.
func Parse(doc []byte) (*Spec, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(resource, root); err != nil {
		return nil, err
	}
	s, r := &Spec{}, &reader{root: root, compiler: c}
	for path, item := range r.object("/paths") {
		for method := range item.(map[string]any) {
			op, err := r.operation(path, method)
			if err != nil {
				return nil, err
			}
			s.operations = append(s.operations, op)
		}
	}
	return s, nil
}

// Check says what is wrong with a response; nil when the document promises it.
// HEAD is held to GET, without a body.
func (s *Spec) Check(method, path string, status int, header http.Header, body []byte) error {
	op, ok := s.find(method, path)
	if !ok {
		return fmt.Errorf("no operation for %s %s", method, path)
	}
	promised, ok := op.responses[fmt.Sprint(status)]
	if !ok {
		return fmt.Errorf("%s %s never answers %d; it knows %v", method, path, status, slices.Sorted(maps.Keys(op.responses)))
	}
	for _, name := range promised.headers {
		if header.Get(name) == "" {
			return fmt.Errorf("%s %s %d without its header %s", method, path, status, name)
		}
	}
	if method == http.MethodHead {
		return nil
	}
	if err := promised.check(header.Get("Content-Type"), body); err != nil {
		return fmt.Errorf("%s %s %d: %w", method, path, status, err)
	}
	return nil
}

func (p response) check(contentType string, body []byte) error {
	if len(p.content) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("a body where none is promised: %.200s", body)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("content type %q: %w", contentType, err)
	}
	schema, ok := p.content[media]
	if !ok {
		return fmt.Errorf("content type %q is not promised", media)
	}
	var value any = string(body)
	if strings.HasSuffix(media, "json") {
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(body)); err != nil {
			return fmt.Errorf("%w: %.200s", err, body)
		}
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%w\n%s", err, indented(body))
	}
	return nil
}

func indented(body []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return body
	}
	return b.Bytes()
}

// find prefers a literal path to a templated one. A method that no operation
// has is looked up as any other of the path: its 405 is promised there.
func (s *Spec) find(method, path string) (operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	segments := strings.Split(path, "/")
	best, rank := operation{}, 0
	for _, op := range s.operations {
		if !op.matches(segments) {
			continue
		}
		if r := op.rank(method); r > rank {
			best, rank = op, r
		}
	}
	return best, rank > 0
}

func (o operation) matches(segments []string) bool {
	return slices.EqualFunc(o.path, segments, func(want, got string) bool {
		return want == got || strings.HasPrefix(want, "{") && got != ""
	})
}

func (o operation) rank(method string) int {
	rank := 1
	if !slices.ContainsFunc(o.path, func(s string) bool { return strings.HasPrefix(s, "{") }) {
		rank += 2
	}
	if o.method == method {
		rank++
	}
	return rank
}
