package messaging

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

func sampleMessage() Message {
	return Message{
		TID: "T-7F3K2A", Type: TypeStatus, Status: Todo, From: "LD", To: "PMO", RelatesTo: "01JAAA",
		Subject: "clear title", Body: "Free text.\n", MessageID: "01JBBB",
		Attachments: []string{"./Attachments/trace.txt"}, Output: []string{"ARKA_META/OUTPUT/report.md"},
	}
}

// The form is a contract: people and other programs read these files.
func TestEncodeWritesTheContractsForm(t *testing.T) {
	got, err := Encode(sampleMessage())
	if err != nil {
		t.Fatal(err)
	}
	const want = `tid: T-7F3K2A
type: STATUS
status: TODO
from: LD
to: PMO
relates_to: 01JAAA
sujet: "clear title"
message: |
  Free text.
links:
  attachments: [./Attachments/trace.txt]
  output: [ARKA_META/OUTPUT/report.md]
message_id: 01JBBB
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestResultHasNoStatusAndNoEmptyKeys(t *testing.T) {
	got, err := Encode(Message{TID: "T-000001", Type: TypeResult, From: "PMO", To: "LD", Subject: `a "b" \c`, Body: "x\n\ny\n", MessageID: "X"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "tid: T-000001\ntype: RESULT\nfrom: PMO\nto: LD\nsujet: \"a \\\"b\\\" \\\\c\"\nmessage: |\n  x\n\n  y\nmessage_id: X\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestHandWrittenFormsAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"folded":   "message: >\n  Free\n  text.\n",
		"quoted":   "message: \"Free text.\\n\"\n",
		"crlf":     "message: |\r\n  Free text.\r\n",
		"comments": "# a comment\nmessage: |\n  Free text.\n# another\n",
	} {
		m, problems := Decode([]byte("tid: T-7F3K2A\ntype: STATUS\nstatus: TODO # why\nfrom: 'LD'\nto: PMO\nsujet: clear title\nrelates_to:\nlinks: {}\n" + text))
		if problems != nil || strings.ReplaceAll(m.Body, "\n", " ") != "Free text. " {
			t.Errorf("%s: %v %q", name, problems, m.Body)
		}
	}
}

func TestDecodeListsEveryProblemWithItsLine(t *testing.T) {
	_, problems := Decode([]byte(`tid: T-1
type: STATUS
status: DONE
from: "a b"
sujet: |
  two
  lines
message: " "
links:
  attachments: [../x, ./Attachments/ok]
  output:
    - /etc/passwd
    - ../../x
    - ok/../y
colour: red
message_id: [1]
`))
	want := []string{
		"colour (line 15): unknown key", "message_id (line 16): want a single value",
		"tid (line 1): \"T-1\" is not valid", "status (line 3): \"DONE\" is not valid", "from (line 4): \"a b\"",
		"to: missing", "sujet (line 5): holds U+000A LINE FEED at byte 3", "message (line 8): missing",
		"links.attachments[0] (line 10)", "links.output[0] (line 12)", "links.output[1] (line 13)",
	}
	if len(problems) != len(want) {
		t.Errorf("%d problems, want %d: %v", len(problems), len(want), problems)
	}
	for i := range min(len(problems), len(want)) {
		if !strings.HasPrefix(problems[i].String(), want[i]) {
			t.Errorf("problem %q, want %q", problems[i], want[i])
		}
	}
}

func TestStatusBelongsToSTATUS(t *testing.T) {
	m := sampleMessage()
	m.Type = TypeResult
	if p := m.Validate(); len(p) != 1 || p[0].Field != "status" {
		t.Errorf("RESULT with a status: %v", p)
	}
	m.Type, m.Status = TypeStatus, ""
	if p := m.Validate(); len(p) != 1 || p[0].Field != "status" {
		t.Errorf("STATUS without one: %v", p)
	}
}

// Bodies that block style can hardly carry.
func TestDifficultBodiesSurvive(t *testing.T) {
	for _, body := range []string{
		"x", " x", "  x\n y\n", "\n\nx\n", "x\n\n\n", "\tx\n", "x\n\t\n", "x\n   \n", "   \nx", "\n x", "- a\n- b\n", "# no comment\n",
		"---\n...\n", "a: b\n", "\"", "'\n'", "\\n\\", "x\n  ", " \n x \n ", "|\n", "é 日本 👩‍💻\n", "%TAG\n", "\u00a0x\u00a0\n", "null", "x\n\n y\n\n\n",
	} {
		m := sampleMessage()
		m.Body = body
		data, err := Encode(m)
		if err != nil {
			t.Errorf("%q: %v", body, err)
			continue
		}
		if back, problems := Decode(data); problems != nil || back.Body != body {
			t.Errorf("%q came back as %q (%v) through\n%s", body, back.Body, problems, data)
		}
	}
}

func TestRefusedBodies(t *testing.T) {
	for _, body := range []string{"", " \n", "a\x1b[0m", "a\r\n", "a\u0085b", "a\u2028b", "\xff", strings.Repeat("x\n", MaxMessageBytes/2)} {
		m := sampleMessage()
		m.Body = body
		if _, err := Encode(m); errkind.Of(err) != errkind.Invalid || len(errkind.Problems(err)) == 0 {
			t.Errorf("%.20q: %v", body, err)
		}
	}
}

func TestNormalizeIsTheDoorsBusiness(t *testing.T) {
	m := Message{Subject: " a\r\n", Body: "x\r\ny"}.Normalize()
	if m.Subject != "a" || m.Body != "x\ny\n" {
		t.Errorf("%q %q", m.Subject, m.Body)
	}
	if m = (Message{}).Normalize(); m.Body != "" {
		t.Error("an empty text stays empty, so that it is refused")
	}
}

func anyMessage(t *rapid.T) Message {
	text := rapid.StringOfN(rapid.OneOf(
		rapid.SampledFrom([]rune(" \n\t-:#|>\"'\\%&*!?[]{},.~@`é")), rapid.Rune(),
	), 0, 60, -1)
	name := rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,12}`),
		rapid.SampledFrom([]string{"null", "NO", "true", "0x1F", "1e5", "1.0", "2024-01-01", "0", "y"}))
	m := Message{
		TID: TID(rapid.StringMatching(`T-[0-9A-Z]{6}`).Draw(t, "tid")), Type: rapid.SampledFrom(types).Draw(t, "type"),
		From: Role(name.Draw(t, "from")), To: Role(name.Draw(t, "to")), MessageID: ID(name.Draw(t, "id")),
		RelatesTo: ID(name.Draw(t, "relates")),
		Subject:   "s" + plaintext.EscapeLine(text.Draw(t, "subject")), Body: "b" + plaintext.Sanitize(text.Draw(t, "body")),
		Output: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return "o" + plaintext.EscapeLine(text.Draw(t, "link")) }), 0, 3).Draw(t, "output"),
	}
	if m.Type == TypeStatus {
		m.Status = rapid.SampledFrom(statuses).Draw(t, "status")
	}
	if rapid.Bool().Draw(t, "leading") {
		m.Body = m.Body[1:] + "x"
	}
	return m
}

// What is written is read back, or it is refused; there is no third way.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyMessage(t)
		if m.Validate() != nil {
			t.Skip("an escape produced a path out of the project, or the like")
		}
		data, err := Encode(m)
		if err != nil {
			t.Fatalf("valid, but not written: %v", err)
		}
		back, problems := Decode(data)
		if diff := cmp.Diff(m, back, cmpopts.EquateEmpty()); problems != nil || diff != "" {
			t.Fatalf("%v\n%s\n%s", problems, diff, data)
		}
	})
}

func FuzzDecode(f *testing.F) {
	seed, _ := Encode(sampleMessage())
	f.Add(seed)
	for _, s := range []string{"", "tid: &a T-7F3K2A\n", "message: |2+\n   x\n\n", "{tid: T-7F3K2A, message: \"\\e\"}", "sujet: !!binary x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems := Decode(data)
		if problems != nil {
			return
		}
		written, err := Encode(m)
		if err != nil {
			if len(data) > MaxMessageBytes/8 {
				return // quotes make a file longer
			}
			t.Fatalf("read, but not written: %v\n%q", err, data)
		}
		back, problems := Decode(written)
		if problems != nil || !sameContent(m, back) {
			t.Fatalf("%v\n%#v\n%#v", problems, m, back)
		}
	})
}

// Difficult bodies stay blocks that people can read; quotes are the last resort.
func TestBlockIndicators(t *testing.T) {
	for body, want := range map[string]string{
		" x\n": "message: |2\n   x\n", "x": "message: |-\n  x\n", "x\n\n": "message: |+\n  x\n\n", "\tx\n\n": "message: |2+\n  \tx\n\n",
	} {
		m := sampleMessage()
		m.Body = body
		if data, err := Encode(m); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%q: %v\n%s", body, err, data)
		}
	}
}
