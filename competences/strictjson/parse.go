package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"arkamsg/internal/errkind"
)

// Limits bound what Parse will look at.
type Limits struct {
	MaxBytes int // of the whole text
	MaxDepth int // of nested arrays and objects
	MaxNodes int // values and keys together
}

// Default fits every body of the API: 1 MiB, as CONTRACT.md has it.
var Default = Limits{MaxBytes: 1 << 20, MaxDepth: 32, MaxNodes: 50_000}

// Parse reads exactly one JSON value. Objects come back as map[string]any and
// numbers as json.Number. Every refusal is an errkind.Invalid naming the byte
// offset, never the text found there.
func Parse(data []byte, lim Limits) (any, error) {
	if len(data) > lim.MaxBytes {
		return nil, errkind.New(errkind.Invalid, "the JSON text is longer than %d bytes", lim.MaxBytes)
	}
	if err := checkText(data); err != nil {
		return nil, err
	}
	p := &parser{dec: json.NewDecoder(bytes.NewReader(data)), lim: lim}
	p.dec.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, p.refuse("there is more text behind the value")
	}
	return v, nil
}

// Object is Parse for a text that must be an object.
func Object(data []byte, lim Limits) (map[string]any, error) {
	v, err := Parse(data, lim)
	if err != nil {
		return nil, err
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, errkind.New(errkind.Invalid, "the JSON text must be an object")
	}
	return obj, nil
}

type parser struct {
	dec   *json.Decoder
	lim   Limits
	nodes int
}

func (p *parser) refuse(what string) error {
	return errkind.New(errkind.Invalid, "%s (at byte %d)", what, p.dec.InputOffset())
}

func (p *parser) token() (json.Token, error) {
	if p.nodes++; p.nodes > p.lim.MaxNodes {
		return nil, errkind.New(errkind.Invalid, "the JSON text has more than %d values", p.lim.MaxNodes)
	}
	t, err := p.dec.Token()
	if err != nil {
		return nil, p.refuse("not valid JSON")
	}
	return t, nil
}

func (p *parser) value(depth int) (any, error) {
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if depth >= p.lim.MaxDepth {
			return nil, p.refuse("nested too deeply")
		}
		if t == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case json.Number:
		return t, p.checkNumber(t)
	}
	return t, nil
}

func (p *parser) object(depth int) (any, error) {
	obj, folded := map[string]any{}, map[string]bool{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if fold := strings.ToLower(key); !ok || folded[fold] {
			return nil, p.refuse("a key appears twice in one object (case does not count)")
		} else {
			folded[fold] = true
		}
		if obj[key], err = p.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := p.token()
	return obj, err
}

func (p *parser) array(depth int) (any, error) {
	list := []any{}
	for p.dec.More() {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := p.token()
	return list, err
}

// checkNumber refuses what no reader could keep: integers beyond int64 and
// values beyond float64.
func (p *parser) checkNumber(n json.Number) error {
	if !strings.ContainsAny(n.String(), ".eE") {
		if _, err := n.Int64(); err != nil {
			return p.refuse("an integer does not fit into 64 bits")
		}
		return nil
	}
	if f, err := n.Float64(); err != nil || math.IsInf(f, 0) {
		return p.refuse("a number is out of range")
	}
	return nil
}

// checkText refuses what the decoder would silently replace by U+FFFD.
func checkText(data []byte) error {
	if !utf8.Valid(data) {
		return errkind.New(errkind.Invalid, "the text is not valid UTF-8")
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 >= len(data) {
			continue
		}
		i++ // the escaped byte is no longer a backslash of its own
		if data[i] != 'u' {
			continue
		}
		switch unit := hex4(data, i+1); {
		case unit >= 0xD800 && unit < 0xDC00 && lowSurrogate(data, i+5):
			i += 10
		case unit >= 0xD800 && unit < 0xE000:
			return errkind.New(errkind.Invalid, "half a surrogate pair (at byte %d)", i-1)
		}
	}
	return nil
}

func lowSurrogate(data []byte, i int) bool {
	if i+1 >= len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return false
	}
	unit := hex4(data, i+2)
	return unit >= 0xDC00 && unit < 0xE000
}

func hex4(data []byte, i int) int64 {
	if i+4 > len(data) {
		return -1
	}
	v, err := strconv.ParseUint(string(data[i:i+4]), 16, 16)
	if err != nil {
		return -1
	}
	return int64(v)
}
