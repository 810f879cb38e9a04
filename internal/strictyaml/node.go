package strictyaml

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"arkamsg/internal/errkind"
)

// nodeOf builds the tree of a value. yaml.v3 could do so too, but it writes the
// text and parses it again on the way, and fails on texts that its own block
// style cannot carry.
func nodeOf(v any) (*yaml.Node, error) { return build(reflect.ValueOf(v)) }

func build(v reflect.Value) (*yaml.Node, error) {
	if !v.IsValid() {
		return plain("!!null", "null"), nil
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok && !isNil(v) {
		text, err := m.MarshalText()
		return textNode(string(text)), err
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return textNode(d.String()), nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return build(v.Elem())
	case reflect.Struct:
		return buildStruct(v)
	case reflect.Map:
		return buildMap(v)
	case reflect.Slice, reflect.Array:
		return buildList(v)
	}
	return buildScalar(v)
}

func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

func plain(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func buildScalar(v reflect.Value) (*yaml.Node, error) {
	switch {
	case v.Kind() == reflect.String:
		return textNode(v.String()), nil
	case v.Kind() == reflect.Bool:
		return plain("!!bool", strconv.FormatBool(v.Bool())), nil
	case v.CanInt():
		return plain("!!int", strconv.FormatInt(v.Int(), 10)), nil
	case v.CanUint():
		return plain("!!int", strconv.FormatUint(v.Uint(), 10)), nil
	case v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
		return plain("!!float", floatText(v.Float())), nil
	}
	return nil, errkind.New(errkind.Internal, "encode YAML: cannot write a %s", v.Type())
}

// floatText keeps a float a float: 2 would come back as a whole number.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

func buildStruct(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		value := v.FieldByIndex(f.Index)
		if !f.IsExported() || f.Anonymous || name == "-" || options == "omitempty" && empty(value) {
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		if err := appendPair(n, name, value); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func empty(v reflect.Value) bool {
	return v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

func buildMap(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if v.Type().Key().Kind() != reflect.String {
		return nil, errkind.New(errkind.Internal, "encode YAML: keys of %s are no strings", v.Type())
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		if err := appendPair(n, key.String(), v.MapIndex(key)); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func appendPair(n *yaml.Node, name string, value reflect.Value) error {
	item, err := build(value)
	if err != nil {
		return err
	}
	n.Content = append(n.Content, textNode(name), item)
	return nil
}

func buildList(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range v.Len() {
		item, err := build(v.Index(i))
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	return n, nil
}
