package strictyaml

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"arkamsg/internal/errkind"
)

// Decode fills the struct (or map) behind v and reports everything that does
// not fit: unknown keys, wrong types, numbers that would change. Field names
// come from `yaml:"name"` tags, else the name in lower case. An empty value
// (`key:`, null) leaves the field as it is.
func (d *Doc) Decode(v any) []errkind.Problem {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return one(0, "internal: Decode needs a pointer")
	}
	var dec decoder
	dec.value(d.top, target.Elem(), "")
	return dec.found.list()
}

// Has tells whether the document holds the field, given as in problems
// ("links.output").
func (d *Doc) Has(field string) bool { return d.find(field) != nil }

// Line returns the line of a field's value, or that of the nearest field above
// it that the document holds; 0 without any.
func (d *Doc) Line(field string) int {
	for field != "" {
		if n := d.find(field); n != nil {
			return n.Line
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return 0
}

func (d *Doc) find(field string) *yaml.Node { return find(d.top, "", field) }

func find(n *yaml.Node, at, field string) *yaml.Node {
	if at == field {
		return n
	}
	for i, item := range n.Content {
		path := index(at, i)
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			path = child(at, n.Content[i-1].Value)
		}
		if path == field || strings.HasPrefix(field, path+".") || strings.HasPrefix(field, path+"[") {
			if found := find(item, path, field); found != nil {
				return found
			}
		}
	}
	return nil
}

type decoder struct{ found problems }

var (
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	durationType = reflect.TypeFor[time.Duration]()
)

func (d *decoder) value(n *yaml.Node, v reflect.Value, field string) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if v.CanAddr() && v.Addr().Type().Implements(textType) {
		d.textual(n, v, field)
		return
	}
	if v.Type() == durationType {
		d.duration(n, v, field)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), field)
	case reflect.Struct:
		d.structure(n, v, field)
	case reflect.Map:
		d.mapping(n, v, field)
	case reflect.Slice:
		d.slice(n, v, field)
	case reflect.Interface:
		d.any(n, v, field)
	default:
		d.scalar(n, v, field)
	}
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, field string) {
	if !d.want(n, yaml.MappingNode, field) {
		return
	}
	names := fieldsOf(v.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := child(field, key.Value)
		if f, ok := names[key.Value]; ok {
			d.value(n.Content[i+1], v.FieldByIndex(f), at)
		} else {
			d.found.add(at, key.Line, "unknown key%s", suggestion(names))
		}
	}
}

// fieldsOf maps the names in a file to the fields of a struct.
func fieldsOf(t reflect.Type) map[string][]int {
	names := make(map[string][]int, t.NumField())
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || f.Anonymous || name == "-" {
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		names[name] = f.Index
	}
	return names
}

// suggestion lists the known keys when they are few enough to help.
func suggestion(names map[string][]int) string {
	if len(names) > 24 {
		return ""
	}
	known := make([]string, 0, len(names))
	for name := range names {
		known = append(known, name)
	}
	slices.Sort(known)
	return "; known are " + strings.Join(known, ", ")
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, field string) {
	if !d.want(n, yaml.MappingNode, field) {
		return
	}
	made := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := reflect.New(v.Type().Key()).Elem()
		at := child(field, n.Content[i].Value)
		d.value(n.Content[i], key, at)
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(n.Content[i+1], item, at)
		made.SetMapIndex(key, item)
	}
	v.Set(made)
}

func (d *decoder) slice(n *yaml.Node, v reflect.Value, field string) {
	if !d.want(n, yaml.SequenceNode, field) {
		return
	}
	made := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		d.value(item, made.Index(i), index(field, i))
	}
	v.Set(made)
}

// any builds map[string]any, []any, string, bool, int64, float64 or nil. Dates
// stay the text they are.
func (d *decoder) any(n *yaml.Node, v reflect.Value, field string) {
	var made reflect.Value
	switch {
	case v.NumMethod() > 0:
		d.found.add(field, n.Line, "internal: no type to decode into")
		return
	case n.Kind == yaml.MappingNode:
		made = reflect.New(reflect.TypeFor[map[string]any]()).Elem()
	case n.Kind == yaml.SequenceNode:
		made = reflect.New(reflect.TypeFor[[]any]()).Elem()
	case n.Tag == "!!bool":
		made = reflect.New(reflect.TypeFor[bool]()).Elem()
	case n.Tag == "!!int":
		made = reflect.New(reflect.TypeFor[int64]()).Elem()
	case n.Tag == "!!float":
		made = reflect.New(reflect.TypeFor[float64]()).Elem()
	default:
		made = reflect.New(reflect.TypeFor[string]()).Elem()
	}
	d.value(n, made, field)
	v.Set(made)
}

func (d *decoder) textual(n *yaml.Node, v reflect.Value, field string) {
	if !d.want(n, yaml.ScalarNode, field) {
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		d.found.add(field, n.Line, "%v", err)
	}
}

func (d *decoder) duration(n *yaml.Node, v reflect.Value, field string) {
	if !d.want(n, yaml.ScalarNode, field) {
		return
	}
	value, err := time.ParseDuration(n.Value)
	if err != nil {
		d.found.add(field, n.Line, "want a duration such as 150ms or 720h")
		return
	}
	v.SetInt(int64(value))
}

// scalar decodes text as it stands, and numbers and truth values only from what
// YAML takes for such.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, field string) {
	if !d.want(n, yaml.ScalarNode, field) {
		return
	}
	ok := false
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		return
	case reflect.Bool:
		ok = n.Tag == "!!bool" && n.Decode(v.Addr().Interface()) == nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		ok = n.Tag == "!!int" && plainInt(n.Value) && n.Decode(v.Addr().Interface()) == nil
	case reflect.Float32, reflect.Float64:
		ok = (n.Tag == "!!float" || n.Tag == "!!int") && n.Decode(v.Addr().Interface()) == nil &&
			!math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0)
	}
	if !ok {
		d.found.add(field, n.Line, "want %s", nounOf(v.Kind()))
	}
}

// plainInt refuses spellings that mean different numbers to different readers:
// 010 is eight to YAML 1.1 and ten to people; 1_000 is text to YAML 1.2.
func plainInt(s string) bool {
	digits := strings.TrimLeft(s, "+-")
	return !strings.Contains(s, "_") && (len(digits) < 2 || digits[0] != '0')
}

func nounOf(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number in range"
}

var kindNames = map[yaml.Kind]string{
	yaml.MappingNode: "a mapping (key: value)", yaml.SequenceNode: "a list", yaml.ScalarNode: "a single value",
}

func (d *decoder) want(n *yaml.Node, kind yaml.Kind, field string) bool {
	if n.Kind == kind {
		return true
	}
	d.found.add(field, n.Line, "want %s, found %s", kindNames[kind], kindNames[n.Kind])
	return false
}
