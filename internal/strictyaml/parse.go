package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"

	"arkamsg/internal/errkind"
)

// Limits bounds a document. A zero field takes the default.
type Limits struct {
	MaxBytes int  // 1 MiB
	MaxNodes int  // 10,000: mappings, sequences, keys and values
	MaxDepth int  // 32
	AnyText  bool // do not check decoded strings with plaintext
}

const (
	defaultBytes = 1 << 20
	defaultNodes = 10_000
	defaultDepth = 32
	maxProblems  = 64
)

func (l Limits) withDefaults() Limits {
	orDefault := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	orDefault(&l.MaxBytes, defaultBytes)
	orDefault(&l.MaxNodes, defaultNodes)
	orDefault(&l.MaxDepth, defaultDepth)
	return l
}

// Doc is a document that passed every check and is not yet decoded.
type Doc struct{ top *yaml.Node }

// Parse checks a document. Either the problems are empty and the Doc is usable,
// or the Doc is nil.
func Parse(data []byte, limits Limits) (*Doc, []errkind.Problem) {
	return accept(data, limits, tree)
}

// accept is every check of a document around the making of its tree.
func accept(data []byte, limits Limits, tree func([]byte) (*yaml.Node, []errkind.Problem)) (*Doc, []errkind.Problem) {
	limits = limits.withDefaults()
	if len(data) > limits.MaxBytes {
		return nil, one(0, fmt.Sprintf("document is larger than %d bytes", limits.MaxBytes))
	}
	if p := checkSource(data); p != nil {
		return nil, p
	}
	top, problems := tree(data)
	if problems != nil {
		return nil, problems
	}
	c := checker{limits: limits}
	c.node(top, "", 1)
	if problems := c.found.list(); problems != nil {
		return nil, problems
	}
	return &Doc{top}, nil
}

// tree builds the node tree of the only document. The parser of yaml.v3 panics
// on its own bugs; input must not be able to do that to us.
func tree(data []byte) (top *yaml.Node, problems []errkind.Problem) {
	defer func() {
		if r := recover(); r != nil {
			top, problems = nil, one(0, "cannot be parsed")
		}
	}()
	var first, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, one(0, "document is empty")
	case err != nil:
		return nil, syntax(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, one(second.Line, "a second document; only one is allowed")
	case !errors.Is(err, io.EOF):
		return nil, syntax(err)
	}
	return first.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax turns "yaml: line 3: what" into a problem at line 3.
func syntax(err error) []errkind.Problem {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	if m == nil {
		return one(0, text)
	}
	line, _ := strconv.Atoi(m[1])
	return one(line, text[len(m[0]):])
}

func one(line int, message string) []errkind.Problem {
	return []errkind.Problem{{Line: line, Message: message}}
}

// problems collects up to a bound and counts the rest.
type problems struct {
	all  []errkind.Problem
	more int
}

func (p *problems) add(field string, line int, format string, args ...any) {
	if len(p.all) == maxProblems {
		p.more++
		return
	}
	p.all = append(p.all, errkind.Problem{Field: field, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (p *problems) list() []errkind.Problem {
	if p.more > 0 {
		return append(p.all, errkind.Problem{Message: fmt.Sprintf("and %d more problems", p.more)})
	}
	return p.all
}
