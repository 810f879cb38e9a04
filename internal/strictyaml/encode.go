package strictyaml

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"arkamsg/internal/errkind"
)

// Encode writes v (structs, maps with sorted keys, slices, scalars) the same way
// each time, as people would: two spaces, `|` blocks for texts of several lines.
// What it wrote is read back and compared, so that a text is written whole or
// not at all.
func Encode(v any) ([]byte, error) {
	data, _, err := encode(v)
	return data, err
}

// EncodeDoc is Encode for a text that [Parse] must accept under these limits.
// The Doc is what was read back, so that nobody need parse it again.
func EncodeDoc(v any, limits Limits) ([]byte, *Doc, error) {
	data, top, err := encode(v)
	if err != nil {
		return nil, nil, err
	}
	doc, problems := accept(data, limits, func([]byte) (*yaml.Node, []errkind.Problem) { return top, nil })
	if problems != nil {
		return nil, nil, errkind.New(errkind.Invalid, "what was written would not be accepted").WithProblems(problems...)
	}
	return data, doc, nil
}

// encode returns the text and the tree that was read back from it.
func encode(v any) ([]byte, *yaml.Node, error) {
	n, err := nodeOf(v)
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, nil, errkind.New(errkind.Internal, "encode YAML").Wrap(err)
	}
	back, problems := tree(b.Bytes())
	if problems != nil || !equal(n, back) {
		return nil, nil, errkind.New(errkind.Invalid, "this text cannot be written as YAML without changing it")
	}
	return b.Bytes(), back, nil
}

// asBool are words that YAML 1.1 readers take for truth values; ours does not,
// but the file is for others too.
var asBool = regexp.MustCompile(`^(?i:y|yes|n|no|on|off)$`)

// textNode chooses the block style for long texts that it can carry, quotes
// where plain text would mean something else.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case blockCarries(s):
		n.Style = yaml.LiteralStyle
	case strings.ContainsAny(s, "\n\r\t") || asBool.MatchString(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// blockCarries: no indentation indicator and no keep chomping are needed; both
// are legal YAML and hard on people.
func blockCarries(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	return strings.Contains(s, "\n") && body != "" && !strings.ContainsAny(body[:1], " \t\n") &&
		!strings.HasSuffix(body, "\n") && !strings.Contains(s, "\r")
}

func equal(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.ShortTag() == b.ShortTag() &&
		slices.EqualFunc(a.Content, b.Content, equal)
}
