package strictyaml

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

// checkSource refuses bytes that must not stand in a file at all, before any
// parser sees them. CRLF is accepted: YAML reads it as a line break.
func checkSource(data []byte) []errkind.Problem {
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return one(1, "begins with a byte order mark; write plain UTF-8")
	}
	line := 1
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if what := sourceFault(r, size, data[at:]); what != "" {
			return one(line, fmt.Sprintf("%s at byte %d", what, at))
		}
		if r == '\n' {
			line++
		}
		at += size
	}
	return nil
}

func sourceFault(r rune, size int, rest []byte) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "invalid UTF-8"
	case r == '\n' || r == '\t':
		return ""
	case r == '\r':
		if len(rest) > 1 && rest[1] == '\n' {
			return ""
		}
	case r >= 0x20 && r < 0x7F || r >= 0xA0 && r != 0x2028 && r != 0x2029 && r != 0xFEFF && r&0xFFFE != 0xFFFE:
		return ""
	}
	return fmt.Sprintf("%U %s", r, plaintext.Name(r))
}

// checker walks the tree once, counting.
type checker struct {
	limits Limits
	nodes  int
	found  problems
	full   bool // a limit was passed; the walk is over
}

func (c *checker) node(n *yaml.Node, field string, depth int) {
	if c.full = c.full || c.overLimit(n, depth); c.full {
		return
	}
	c.feature(n, field)
	switch n.Kind {
	case yaml.MappingNode:
		c.mapping(n, field, depth)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			c.node(item, index(field, i), depth+1)
		}
	case yaml.ScalarNode:
		c.text(n, field)
	}
}

// overLimit ends the walk; what a bomb holds besides its size interests nobody.
func (c *checker) overLimit(n *yaml.Node, depth int) bool {
	c.nodes++
	switch {
	case depth > c.limits.MaxDepth:
		c.found = problems{all: one(n.Line, fmt.Sprintf("nested deeper than %d levels", c.limits.MaxDepth))}
	case c.nodes > c.limits.MaxNodes:
		c.found = problems{all: one(n.Line, fmt.Sprintf("more than %d nodes", c.limits.MaxNodes))}
	default:
		return false
	}
	return true
}

// feature refuses what YAML can do and a message must not.
func (c *checker) feature(n *yaml.Node, field string) {
	switch {
	case n.Kind == yaml.AliasNode:
		c.found.add(field, n.Line, "aliases (*) are not allowed")
	case n.Anchor != "":
		c.found.add(field, n.Line, "anchors (&) are not allowed")
	case n.Style&yaml.TaggedStyle != 0:
		c.found.add(field, n.Line, "tags (!) are not allowed")
	case n.Tag == "!!merge":
		c.found.add(field, n.Line, "merge keys (<<) are not allowed")
	}
}

func (c *checker) mapping(n *yaml.Node, field string, depth int) {
	seen := make(map[string]bool, min(len(n.Content)/2, c.limits.MaxNodes))
	for i := 0; i+1 < len(n.Content) && !c.full; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := child(field, key.Value)
		c.key(key, at, depth+1)
		if key.Kind == yaml.ScalarNode && seen[key.Value] {
			c.found.add(at, key.Line, "duplicate key")
		}
		seen[key.Value] = true
		c.node(value, at, depth+1)
	}
}

func (c *checker) key(key *yaml.Node, field string, depth int) {
	if key.Kind != yaml.ScalarNode && key.Kind != yaml.AliasNode {
		c.found.add(field, key.Line, "a key must be plain text")
		return
	}
	if v := plaintext.CheckLine(key.Value); v != nil {
		c.found.add(field, key.Line, "key holds %s", v)
	}
	c.node(key, field, depth)
}

func (c *checker) text(n *yaml.Node, field string) {
	if c.limits.AnyText {
		return
	}
	if v := plaintext.Check(n.Value); v != nil {
		c.found.add(field, n.Line, "text holds %s", v)
	}
}

// child and index spell the path of a field: links.attachments[0].
func child(field, key string) string {
	const most = 64
	key = plaintext.EscapeLine(key)
	if len(key) > most {
		key = plaintext.EscapeLine(key[:most]) + "…"
	}
	if field == "" {
		return key
	}
	return field + "." + key
}

func index(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
