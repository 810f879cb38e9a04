package strictyaml_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

type sample struct {
	Name  string            `yaml:"name"`
	Count int8              `yaml:"count"`
	On    bool              `yaml:"on"`
	Wait  time.Duration     `yaml:"wait"`
	Ratio float64           `yaml:"ratio"`
	List  []string          `yaml:"list"`
	Sub   struct{ X int }   `yaml:"sub"`
	Map   map[string]string `yaml:"map"`
	Any   any               `yaml:"any"`
	Ptr   *bool             `yaml:"ptr"`
}

func decode(t *testing.T, text string) (sample, []errkind.Problem) {
	t.Helper()
	var s sample
	doc, problems := strictyaml.Parse([]byte(text), strictyaml.Limits{})
	if problems != nil {
		return s, problems
	}
	return s, doc.Decode(&s)
}

func TestDecode(t *testing.T) {
	got, problems := decode(t, `# a comment
name: NO
count: -7
on: true
wait: 150ms
ratio: 1.5
list: [a, 1.10, null, 2024-01-01]
sub: {x: 3}
map: {k: v, n: 007}
any: {a: [1, 2.5, false, x, ~]}
ptr: false
`)
	if problems != nil {
		t.Fatal(problems)
	}
	no := false
	want := sample{
		Name: "NO", Count: -7, On: true, Wait: 150 * time.Millisecond, Ratio: 1.5,
		List: []string{"a", "1.10", "", "2024-01-01"}, Sub: struct{ X int }{3},
		Map: map[string]string{"k": "v", "n": "007"}, Ptr: &no,
		Any: map[string]any{"a": []any{int64(1), 2.5, false, "x", nil}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
}

func TestAllProblemsAtOnceWithLines(t *testing.T) {
	_, problems := decode(t, `name: [a]
count: 300
on: yes
nope: 1
wait: soon
sub:
  x: 010
  y: 1
list: [{a: b}]
ratio: .nan
`)
	want := []string{
		"name (line 1): want a single value, found a list",
		"count (line 2): want a whole number in range",
		"on (line 3): want true or false",
		"nope (line 4): unknown key",
		"wait (line 5): want a duration",
		"sub.x (line 7): want a whole number",
		"sub.y (line 8): unknown key; known are x",
		"list[0] (line 9): want a single value",
		"ratio (line 10): want a number",
	}
	if len(problems) != len(want) {
		t.Fatalf("got %d problems: %v", len(problems), problems)
	}
	for i, p := range problems {
		if !strings.HasPrefix(p.String(), want[i]) {
			t.Errorf("got %q, want %q", p, want[i])
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "empty"},
		"only a comment":   {"# x\n", "empty"},
		"two documents":    {"a: 1\n---\nb: 2\n", "second document"},
		"trailing garbage": {"a: 1\n...\n}", "did not find"},
		"alias":            {"a: &x 1\nb: *x\n", "b (line 2): aliases"},
		"anchor":           {"a: &x 1\n", "a (line 1): anchors"},
		"tag":              {"a: !!str 1\n", "tags"},
		"binary":           {"a: !!binary G1s=\n", "tags"},
		"own tag":          {"a: !mine 1\n", "tags"},
		"merge key":        {"a: 1\n<<: {b: 2}\n", "merge keys"},
		"duplicate":        {"a: 1\nb: 2\na: 3\n", "a (line 3): duplicate key"},
		"duplicate quoted": {"a: 1\n\"a\": 3\n", "duplicate key"},
		"deep duplicate":   {"a: {b: 1, b: 2}\n", "a.b (line 1): duplicate key"},
		"list as key":      {"? [a]\n: 1\n", "a key must be plain text"},
		"escaped ESC":      {`a: "\e[31m"`, "U+001B ESCAPE"},
		"escaped bidi":     {`a: "\u202e"`, "RIGHT-TO-LEFT OVERRIDE"},
		"escaped in key":   {`"\x07": 1`, `\x07 (line 1): key holds U+0007 BELL`},
		"escaped NEL key":  {`"a\Nb": 1`, "U+0085 NEXT LINE"},
		"raw NEL":          {"a: 1\u0085b: 2\n", "U+0085 NEXT LINE at byte 4"},
		"raw LS":           {"a: 1\n\u2028b: 2\n", "LINE SEPARATOR"},
		"NUL":              {"a: 1\n\x00", "(line 2): U+0000 NULL"},
		"raw ESC":          {"a: \x1b[0m", "ESCAPE"},
		"lone CR":          {"a: 1\rb: 2\n", "CARRIAGE RETURN"},
		"invalid UTF-8":    {"a: \xff\n", "invalid UTF-8 at byte 3"},
		"UTF-8 BOM":        {"\xef\xbb\xbfa: 1\n", "byte order mark"},
		"UTF-16":           {"\xff\xfea\x00:\x00", "byte order mark"},
		"UTF-16 bare":      {"a\x00:\x00 \x001\x00", "NULL"},
		"tab indentation":  {"a:\n\tb: 1\n", "cannot start any token"},
		"unclosed":         {"a: [1, 2\n", "did not find"},
	} {
		doc, problems := strictyaml.Parse([]byte(c.text), strictyaml.Limits{})
		if doc != nil || len(problems) == 0 {
			t.Errorf("%s: accepted", name)
		} else if got := (&errkind.Error{Problems: problems}).Error(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q does not say %q", name, got, c.want)
		}
	}
}

func TestCRLFIsALineBreak(t *testing.T) {
	got, problems := decode(t, "name: |\r\n  a\r\n  b\r\ncount: 1\r\n")
	if problems != nil || got.Name != "a\nb\n" {
		t.Errorf("%q, %v", got.Name, problems)
	}
}

func TestAnyTextLeavesStringsAlone(t *testing.T) {
	if _, problems := strictyaml.Parse([]byte(`a: "\e"`), strictyaml.Limits{AnyText: true}); problems != nil {
		t.Error(problems)
	}
}

func TestLinesAreFound(t *testing.T) {
	doc, problems := strictyaml.Parse([]byte("a: 1\nb:\n  c:\n    - x\n    - y\n"), strictyaml.Limits{})
	if problems != nil {
		t.Fatal(problems)
	}
	for field, want := range map[string]int{"a": 1, "b.c[1]": 5, "b.c[7]": 4, "b.d": 3, "z": 0} {
		if got := doc.Line(field); got != want {
			t.Errorf("Line(%s) = %d, want %d", field, got, want)
		}
	}
	if !doc.Has("b.c[0]") || doc.Has("b.d") {
		t.Error("Has")
	}
}

func TestEncodeIsStableAndReadable(t *testing.T) {
	got, err := strictyaml.Encode(sample{Name: "two\nlines\n", Wait: time.Second, List: []string{"yes", "\tx\ny"},
		Map: map[string]string{"b": "2", "a": " \n", "c": "\n"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name: |\n  two\n  lines\n", `- "yes"`, `- "\tx\ny"`, "a: \" \\n\"\n", "wait: 1s\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	back, problems := decode(t, string(got))
	if problems != nil || back.Name != "two\nlines\n" || back.List[1] != "\tx\ny" || back.Map["a"] != " \n" {
		t.Errorf("%v %+v", problems, back)
	}
}

// What EncodeDoc gives back is what Parse would make of it, and what Parse would
// refuse is not written.
func TestEncodeDoc(t *testing.T) {
	in := map[string]any{"a": "two\nlines\n", "b": []any{int64(1), 2.5, true}}
	data, doc, err := strictyaml.EncodeDoc(in, strictyaml.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	parsed, problems := strictyaml.Parse(data, strictyaml.Limits{})
	if problems != nil {
		t.Fatal(problems)
	}
	var kept, read map[string]any
	if p, q := doc.Decode(&kept), parsed.Decode(&read); p != nil || q != nil || !reflect.DeepEqual(kept, read) || !reflect.DeepEqual(kept, in) {
		t.Errorf("%v %v\n%v\n%v", p, q, kept, read)
	}
	for name, limits := range map[string]strictyaml.Limits{"nodes": {MaxNodes: 3}, "bytes": {MaxBytes: 4}, "depth": {MaxDepth: 1}} {
		if _, _, err := strictyaml.EncodeDoc(in, limits); errkind.Of(err) != errkind.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := strictyaml.EncodeDoc(map[string]any{"a": "bidi \u202e"}, strictyaml.Limits{}); errkind.Of(err) != errkind.Invalid {
		t.Errorf("a text that nobody may send was written: %v", err)
	}
}
