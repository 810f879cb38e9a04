package strictjson

import (
	"bytes"
	"encoding/json"
	"math"
)

// maxExact is the largest integer that float64 holds without doubt.
const maxExact = 1 << 53

// Normal gives equal values one Go form: whole numbers are int64 (3.0 too),
// other numbers float64. It reads what Parse, encoding/json or a YAML decoder
// made, and returns a copy.
func Normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = Normal(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Normal(e)
		}
		return out
	case json.Number:
		return normalNumber(v)
	case int:
		return int64(v)
	case uint64:
		return normalFloat(float64(v))
	case float64:
		return normalFloat(v)
	}
	return v
}

func normalNumber(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return normalFloat(f)
}

func normalFloat(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) <= maxExact {
		return int64(f)
	}
	return f
}

// Canonical encodes v with sorted keys, no blanks and no HTML escapes. Two
// documents that mean the same give the same bytes.
func Canonical(v any) ([]byte, error) {
	return encode(Normal(v))
}

// Of turns any Go value into the generic form by way of its JSON.
func Of(v any) (any, error) {
	data, err := encode(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var out any
	if err := dec.Decode(&out); err != nil {
		return nil, err
	}
	return Normal(out), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
