package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"arkamsg/competences/schema"
)

func compile(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Compile("test", map[string]any{
		"type": "object", "required": []string{"a"}, "additionalProperties": false,
		"properties": map[string]any{
			"a": map[string]any{"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
			"b": map[string]any{"type": "array", "items": map[string]any{"enum": []string{"x", "y"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryProblemIsListedWithItsPointer(t *testing.T) {
	got := fmt.Sprint(compile(t).Validate(map[string]any{"b": []any{"x", "z"}, "c/d": 1}, nil))
	want := "[is missing a /b/1: must be one of x, y /c~1d: unknown field]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if left := compile(t).Validate(map[string]any{"a": "ok"}, nil); left != nil {
		t.Errorf("a good document has problems: %v", left)
	}
}

func TestValuesAreNeverRepeated(t *testing.T) {
	const secret = "SECRETVALUE"
	doc := map[string]any{"a": secret, "b": []any{secret}, secret: secret}
	mask := func(k string) string {
		if k == secret {
			return "*"
		}
		return k
	}
	if got := fmt.Sprint(compile(t).Validate(doc, mask)); strings.Contains(got, secret) || !strings.Contains(got, "/*") {
		t.Errorf("the value leaks: %s", got)
	}
}

func TestSchemasLoadNothing(t *testing.T) {
	if _, err := schema.Compile("evil", map[string]any{"$ref": "file:///etc/passwd"}); err == nil {
		t.Error("a schema may not load files")
	}
}
