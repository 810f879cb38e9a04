package messaging

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"arkamsg/internal/errkind"
)

const envelopeText = `{
 "type":"notify", "v":1, "message_id":"M1", "ts":1780338005123,
 "project":"arka-labs-b", "to_agent":"PMO", "provider":"codex", "session_prefix":"arka",
 "resource":{"pointer":"ptr:msg:M1"},
 "constraints":["one", {"b":1.0,"a":2}], "metadata":{"z":1e3,"a":{"y":null,"x":[]}}, "sender":"LD"
}`

func mustParse(t *testing.T, text string) Envelope {
	t.Helper()
	e, err := ParseEnvelope([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEnvelopeHasOneCanonicalForm(t *testing.T) {
	const want = `{"type":"notify","v":1,"message_id":"M1","ts":1780338005123,"project":"arka-labs-b","to_agent":"PMO",` +
		`"provider":"codex","session_prefix":"arka","resource":{"pointer":"ptr:msg:M1"},` +
		`"constraints":["one",{"a":2,"b":1.0}],"metadata":{"a":{"x":[],"y":null},"z":1e3},"sender":"LD"}`
	other := strings.NewReplacer("\n", "\r\n\t", `1780338005123`, `"2026-06-01T20:20:05.123+02:00"`, `"y":null,"x":[]`, `"x":[],"y":null`).Replace(envelopeText)
	for _, text := range []string{envelopeText, other, want} {
		got, err := mustParse(t, text).JSON()
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
}

func TestEnvelopeTimes(t *testing.T) {
	want := time.Date(2026, 6, 1, 18, 20, 5, 0, time.UTC)
	for _, ts := range []string{"1780338005000", `"2026-06-01T18:20:05Z"`, `"20260601T182005Z"`, `"2026-06-01T20:20:05+0200"`, `"2026-06-01T18:20:05.000000Z"`} {
		e := mustParse(t, strings.Replace(envelopeText, "1780338005123", ts, 1))
		if !e.TS.Equal(want) {
			t.Errorf("ts %s is %v", ts, e.TS)
		}
	}
	for _, ts := range []string{`"yesterday"`, `"2026-06-01T18:20:05"`, "1.5", "-1", "0", "1e30", "true", `""`, "null", "[]", "99999999999999999"} {
		_, err := ParseEnvelope([]byte(strings.Replace(envelopeText, "1780338005123", ts, 1)))
		if p := errkind.Problems(err); len(p) != 1 || p[0].Field != "ts" {
			t.Errorf("ts %s: %v", ts, err)
		}
	}
}

func TestEnvelopeListsAllProblems(t *testing.T) {
	_, err := ParseEnvelope([]byte(`{"type":"ping","v":"1","message_id":"a b","session":7,"colour":"red","resource":{"pointer":"http://x"},"constraints":{},"metadata":[],"sender":"@x","Type":1}`))
	want := []string{"Type: duplicate key: differs"}
	checkProblems(t, err, want)

	_, err = ParseEnvelope([]byte(`{"type":"ping","v":"1","message_id":"a b","session":7,"colour":"red","resource":{"pointer":"http://x"},"constraints":{},"metadata":[],"sender":"@x"}`))
	checkProblems(t, err, []string{
		"colour: unknown field", "constraints: want an array", "metadata: want an object", "session: want a string", "v: want a whole number",
		"ts: missing", "type: \"ping\"", "message_id: \"a b\"", "provider: missing", "session_prefix: missing", "resource.pointer: \"http://x\"", "sender: \"@x\"",
	})
	if _, err = ParseEnvelope([]byte(`{}`)); len(errkind.Problems(err)) != 8 {
		t.Error(err)
	}
}

func checkProblems(t *testing.T, err error, want []string) {
	t.Helper()
	problems := errkind.Problems(err)
	if len(problems) != len(want) || errkind.Of(err) != errkind.Invalid {
		t.Errorf("%d problems, want %d: %v", len(problems), len(want), err)
	}
	for i := range min(len(problems), len(want)) {
		if !strings.HasPrefix(problems[i].String(), want[i]) {
			t.Errorf("problem %q, want %q", problems[i], want[i])
		}
	}
}

func TestSessionOrProjectAndRole(t *testing.T) {
	without := strings.NewReplacer(`"project":"arka-labs-b",`, "").Replace(envelopeText)
	if _, err := ParseEnvelope([]byte(without)); len(errkind.Problems(err)) != 1 {
		t.Errorf("neither: %v", err)
	}
	e := mustParse(t, strings.Replace(without, `"to_agent":"PMO"`, `"session":"arka 1: x"`, 1))
	if e.Session != "arka 1: x" {
		t.Errorf("%+v", e)
	}
}

// What encoding/json would let pass.
func TestStrictJSON(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(envelopeText, old, new, 1) }
	for name, c := range map[string]struct{ text, want string }{
		"duplicate":         {change(`"v":1,`, `"v":1,"v":1,`), "v: duplicate key"},
		"duplicate by case": {change(`"v":1,`, `"v":1,"V":2,`), `V: duplicate key: differs from "v" only by case`},
		"other case":        {change(`"v":1`, `"V":1`), "V: unknown field"},
		"inner duplicate":   {change(`"x":[]`, `"x":[],"x":1`), "metadata.a.x: duplicate key"},
		"pointer by case":   {change(`"pointer"`, `"Pointer"`), "resource: want an object"},
		"pointer and more":  {change(`"ptr:msg:M1"`, `"ptr:msg:M1","x":1`), "resource: want an object"},
		"trailing":          {envelopeText + "{}", "data after the end"},
		"trailing bracket":  {envelopeText + "}", "data after the end"},
		"truncated":         {envelopeText[:60], "ends in the middle"},
		"array":             {"[]", "want a JSON object"},
		"null":              {"null", "missing"},
		"empty":             {"", "empty"},
		"deep":              {change(`"one"`, strings.Repeat("[", 100000)), "nested deeper"},
		"large":             {change(`"one"`, `"`+strings.Repeat("x", 1<<20)+`"`), "larger than"},
		"ESC":               {change(`"one"`, `"\u001b[0m"`), "constraints[0]: holds U+001B ESCAPE"},
		"ESC in a key":      {change(`"z"`, `"\u001b"`), `metadata.\x1b: the key holds`},
		"bidi":              {change(`"sender":"LD"`, `"sender":"\u202e"`), "sender: holds U+202E"},
		"half a surrogate":  {change(`"one"`, `"\ud83d"`), "half of a surrogate"},
		"other half":        {change(`"one"`, `"\\\udc00"`), "half of a surrogate"},
		"invalid UTF-8":     {change(`"one"`, "\"\xff\""), "not valid UTF-8"},
		"v is 1.0":          {change(`"v":1`, `"v":1.0`), "v: want a whole number"},
		"pointer to a path": {change("ptr:msg:M1", "arkamsg://inbox/../x"), "resource.pointer"},
		"pointer to a file": {change("ptr:msg:M1", "ptr:msg:a/b"), "resource.pointer"},
	} {
		if _, err := ParseEnvelope([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	mustParse(t, change(`"one"`, `"\ud83d\ude00 \\ud83d"`))
}

func TestPointers(t *testing.T) {
	for text, want := range map[string]Pointer{"ptr:msg:A.b-1": {ID: "A.b-1"}, "arkamsg://inbox/PMO": {Role: "PMO"}} {
		if p, err := ParsePointer(text); err != nil || p != want || p.String() != text {
			t.Errorf("%s: %v %v", text, p, err)
		}
	}
	for _, text := range []string{"", "ptr:msg:", "ptr:msg:-a", "arkamsg://inbox/", "ARKAMSG://inbox/PMO", "ptr:msg:a b", "arkamsg://inbox/PMO/x", "ptr:msg:" + strings.Repeat("a", 65)} {
		if _, err := ParsePointer(text); errkind.Of(err) != errkind.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const chatText = "[Notification-Auto] @PMO — Message reçu de @LD : ptr:msg:M1 — [Message-READ]"

func TestChatLineAndEnvelopeAreOne(t *testing.T) {
	c, err := ParseChat(" " + chatText + "\n")
	if err != nil || c != (Chat{"PMO", "LD", "M1"}) || c.String() != chatText {
		t.Fatalf("%+v %v", c, err)
	}
	e := c.Envelope(Envelope{Project: "p", Provider: "codex", SessionPrefix: "arka", TS: noon, Session: "other"})
	if problems := e.Validate(); problems != nil {
		t.Error(problems)
	}
	if back, err := e.Chat(); err != nil || back != c {
		t.Errorf("%+v %v", back, err)
	}
	data, err := e.JSON()
	mustSucceed(t, err)
	if again := mustParse(t, string(data)); !cmp.Equal(again, e) {
		t.Error(cmp.Diff(again, e))
	}
	for name, change := range map[string]func(*Envelope){
		"inbox": func(e *Envelope) { e.Resource.Pointer = "arkamsg://inbox/PMO" },
		"other": func(e *Envelope) { e.Resource.Pointer = "ptr:msg:M2" },
		"no to": func(e *Envelope) { e.ToAgent = "" }, "no from": func(e *Envelope) { e.Sender = "" },
	} {
		other := e
		change(&other)
		if _, err := other.Chat(); errkind.Of(err) != errkind.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSeveralRecipientsGiveOneQuestion(t *testing.T) {
	for to, want := range map[string]string{
		"@PMO @LD": "which one do you mean: @PMO or @LD?", "@PMO, @LD": "which one do you mean: @PMO or @LD?",
		"@PMO et @LD": "which one do you mean: @PMO or @LD?", "@A/@B/@C": "which one do you mean: @A, @B or @C?",
	} {
		_, err := ParseChat(strings.Replace(chatText, "@PMO", to, 1))
		if errkind.Of(err) != errkind.Invalid || err.Error() != want {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func TestOtherLinesAreNoNotifications(t *testing.T) {
	for _, line := range []string{
		"", "hello", "[Notification-Auto]", strings.Replace(chatText, "@PMO", "PMO", 1), strings.Replace(chatText, "@PMO", "@PMO @PMO", 1),
		strings.Replace(chatText, "@LD", "@LD @FSX", 1), strings.Replace(chatText, "M1", "../x", 1), chatText + " and more",
		strings.Replace(chatText, "—", "-", 1), chatText + "\n" + chatText, strings.Replace(chatText, "M1", "M1\x1b", 1), strings.Replace(chatText, "ç", "c", 1),
	} {
		if _, err := ParseChat(line); errkind.Of(err) != errkind.Invalid {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func FuzzParseEnvelope(f *testing.F) {
	for _, s := range []string{envelopeText, "{}", `{"v":1,"V":2}`, `{"a":"\ud800"}`, "[[[[", `{"metadata":{"a":1e400}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEnvelope(data)
		if err != nil {
			return
		}
		first, err := e.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseEnvelope(first)
		if err != nil {
			t.Fatalf("canonical form refused: %v\n%s", err, first)
		}
		if second, _ := again.JSON(); string(second) != string(first) || !json.Valid(first) {
			t.Fatalf("%s\n%s", first, second)
		}
	})
}

func FuzzParseChat(f *testing.F) {
	f.Add(chatText)
	f.Add(strings.Replace(chatText, "@PMO", "@A, @B", 1))
	f.Fuzz(func(t *testing.T, line string) {
		c, err := ParseChat(line)
		if err != nil {
			_ = fmt.Sprint(err)
			return
		}
		if c.String() != strings.TrimSpace(line) {
			t.Fatalf("%q came back as %q", line, c)
		}
	})
}
