package standin

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDecoder(t *testing.T) {
	for in, want := range map[string][]key{
		"a":                          {{keyRune, "a"}},
		"é\t":                        {{keyRune, "é"}, {keyRune, "\t"}},
		"\r\n\x7f":                   {{keyEnter, ""}, {keyNewline, ""}, {keyErase, ""}},
		"\x1b[200~a\nb\r\x1b[201~\r": {{keyPaste, "a\nb\r"}, {keyEnter, ""}},
		"\x1b[A\x1b[15~x":            {{keyOther, ""}, {keyOther, ""}, {keyRune, "x"}},
		"\x15\x03":                   {{keyClear, ""}, {keyQuit, ""}},
	} {
		for size := 1; size <= len(in); size++ { // however the bytes are cut
			var d decoder
			var got []key
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				got = append(got, d.feed([]byte(rest[:n]))...)
				rest = rest[n:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q cut at %d: %v, want %v", in, size, got, want)
			}
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{"a\x1b[200~b\x1b[201~\r", "\x1b", "\x1b[", "\xff\xc3", "\x1b[200~"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d decoder
		d.feed(b)
		if len(d.pending) > len(b) {
			t.Fatal("more is pending than came")
		}
	})
}

// play runs a stand-in on the input, a chunk each, and returns its record.
func play(t *testing.T, o options, chunks ...string) []Entry {
	t.Helper()
	o.log = filepath.Join(t.TempDir(), "log")
	rec, err := openRecord(o.log)
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{opt: o, look: looks["codex"], out: io.Discard, rec: rec, swallow: o.swallow}
	for _, c := range chunks {
		a.take([]byte(c))
		a.draw()
	}
	log, err := ReadLog(o.log)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func kinds(log []Entry) string {
	var out []string
	for _, e := range log {
		if e.Kind != "raw" {
			out = append(out, e.Kind+e.Why)
		}
	}
	return strings.Join(out, " ")
}

func TestHabits(t *testing.T) {
	dialog := filepath.Join(t.TempDir(), "dialog")
	if err := os.WriteFile(dialog, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const paste = "\x1b[200~hello\x1b[201~"
	for name, tc := range map[string]struct {
		o      options
		chunks []string
		want   string
	}{
		"submits":   {options{}, []string{paste, "\r"}, "paste submit"},
		"typed":     {options{}, []string{"hi\r", "\r"}, "submit enterempty"},
		"swallows":  {options{swallow: 2}, []string{paste, "\r", "\r", "\r"}, "paste enterswallowed enterswallowed submit"},
		"burst":     {options{burst: time.Hour}, []string{paste, "\r"}, "paste enterburst"},
		"dialog":    {options{dialogFile: dialog}, []string{"\r"}, "answer"},
		"clears":    {options{}, []string{"abc\x15\r"}, "enterempty"},
		"placehold": {options{placeholder: 3}, []string{paste, "\x7f", "\r"}, "paste enterempty"},
	} {
		if got := kinds(play(t, tc.o, tc.chunks...)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestRecordIsTheGroundTruth(t *testing.T) {
	log := play(t, options{onSubmit: "cat; echo \"  and $((1+1))\"\n"}, "a\x1b[200~b\nc\x1b[201~", "\r")
	if got := Submitted(log); len(got) != 1 || got[0] != "ab\nc" {
		t.Errorf("submitted %q", got)
	}
	if got := RawBytes(log); !bytes.Equal(got, []byte("a\x1b[200~b\nc\x1b[201~\r")) {
		t.Errorf("raw %q", got)
	}
}

func TestMainRefusesNonsense(t *testing.T) {
	for _, args := range [][]string{{"--profile", "vim"}, {"extra"}, {"--nope"}} {
		if code := Main(args, os.Stdin, io.Discard, io.Discard); code != 2 {
			t.Errorf("%v: exit %d, want 2", args, code)
		}
	}
}

// Main runs to the end of an input that is no terminal.
func TestMainOnAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	log := filepath.Join(t.TempDir(), "log")
	_, _ = w.WriteString("hi\r")
	_ = w.Close()
	var screen bytes.Buffer
	if code := Main([]string{"--log", log, "--profile", "claude"}, r, &screen, io.Discard); code != 0 {
		t.Fatalf("exit %d", code)
	}
	entries, err := ReadLog(log)
	if err != nil || kinds(entries) != "start submit exit" {
		t.Errorf("record %q, %v", kinds(entries), err)
	}
	if !strings.Contains(screen.String(), "\x1b[?2004h") {
		t.Error("bracketed paste was not asked for")
	}
}
