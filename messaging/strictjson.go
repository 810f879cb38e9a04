package messaging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

const (
	maxEnvelopeBytes = 1 << 20
	maxEnvelopeDepth = 32
	maxJSONProblems  = 64
)

// checkJSON walks one JSON value and lists what encoding/json would accept in
// silence: keys that come twice (also in another case: it takes the last one),
// data after the value, bytes that are not UTF-8, halves of surrogates, texts
// with characters that may not travel.
func checkJSON(data []byte) []errkind.Problem {
	one := func(format string, args ...any) []errkind.Problem {
		return []errkind.Problem{{Message: fmt.Sprintf(format, args...)}}
	}
	switch {
	case len(data) > maxEnvelopeBytes:
		return one("larger than %d bytes", maxEnvelopeBytes)
	case !utf8.Valid(data):
		return one("not valid UTF-8")
	case loneSurrogate(data):
		return one(`a \u escape is half of a surrogate pair`)
	}
	w := jsonWalk{tokens: json.NewDecoder(bytes.NewReader(data))}
	w.tokens.UseNumber()
	switch err := w.value("", 1); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return one("empty, or it ends in the middle")
	case err != nil:
		return one("%v", err)
	}
	if _, err := w.tokens.Token(); !errors.Is(err, io.EOF) {
		return one("data after the end of the object")
	}
	return w.found
}

type jsonWalk struct {
	tokens *json.Decoder
	found  []errkind.Problem
}

func (w *jsonWalk) add(field, format string, args ...any) {
	if len(w.found) < maxJSONProblems {
		w.found = append(w.found, errkind.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
}

func (w *jsonWalk) value(field string, depth int) error {
	token, err := w.tokens.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case string:
		if bad := plaintext.Check(v); bad != nil {
			w.add(field, "holds %s", bad)
		}
	case json.Delim:
		if depth > maxEnvelopeDepth {
			return fmt.Errorf("nested deeper than %d levels", maxEnvelopeDepth)
		}
		return w.inside(v, field, depth)
	}
	return nil
}

// inside walks the members of an object or the items of an array.
func (w *jsonWalk) inside(open json.Delim, field string, depth int) error {
	seen := map[string]string{}
	for i := 0; w.tokens.More(); i++ {
		at := fmt.Sprintf("%s[%d]", field, i)
		if open == '{' {
			key, err := w.tokens.Token()
			if err != nil {
				return err
			}
			at = w.key(key.(string), field, seen)
		}
		if err := w.value(at, depth+1); err != nil {
			return err
		}
	}
	_, err := w.tokens.Token() // the closing bracket
	return err
}

// key notes a member and returns its path.
func (w *jsonWalk) key(key, field string, seen map[string]string) string {
	at := plaintext.EscapeLine(shorten(key))
	if field != "" {
		at = field + "." + at
	}
	if bad := plaintext.CheckLine(key); bad != nil {
		w.add(at, "the key holds %s", bad)
	}
	folded := strings.ToLower(key)
	if first, twice := seen[folded]; twice && first == key {
		w.add(at, "duplicate key")
	} else if twice {
		w.add(at, "duplicate key: differs from %q only by case", shorten(first))
	}
	seen[folded] = key
	return at
}

// loneSurrogate finds \ud800 without its other half, which encoding/json turns
// into U+FFFD. Backslashes stand only in strings.
func loneSurrogate(data []byte) bool {
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 || i+1 >= len(data) {
			return false
		}
		switch unit := utf16Unit(data[i:]); {
		case unit < 0:
			data = data[i+2:] // another escape
		case unit >= 0xDC00 && unit < 0xE000:
			return true
		case unit >= 0xD800 && unit < 0xDC00:
			if next := utf16Unit(data[i+6:]); next < 0xDC00 || next >= 0xE000 {
				return true
			}
			data = data[i+12:]
		default:
			data = data[i+6:]
		}
	}
}

// utf16Unit reads \uXXXX; -1 if there is none.
func utf16Unit(data []byte) int {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	v, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(v)
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// canonical writes a JSON value without white space and with the keys of its
// objects sorted; numbers keep their spelling.
func canonical(data json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
