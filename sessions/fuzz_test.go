package sessions_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"arkamsg/internal/errkind"
	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// target is a pane that takes many messages quickly: no settle, no proof.
type target struct {
	*bench
	profile sessions.Profile
	pinned  sessions.Target
	record  *bufio.Reader
	partial []byte
}

func newTarget(t testing.TB) *target {
	b := newBench(t)
	b.agent("generic", "generic", "--profile", "generic")
	f, err := os.Open(b.log("generic"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	p := profileOf(t, "generic")
	p.Settle, p.Proof = 0, sessions.ProofNone
	return &target{bench: b, profile: p, pinned: b.pin("generic"), record: bufio.NewReader(f)}
}

// received returns the bytes that arrived since the last call, as soon as there
// are at least n.
func (p *target) received(t testing.TB, n int) []byte {
	t.Helper()
	var raw []byte
	eventually(t, "the pane has received it", func() bool {
		for {
			chunk, err := p.record.ReadBytes('\n')
			p.partial = append(p.partial, chunk...)
			if err == io.EOF {
				return len(raw) >= n
			}
			var e standin.Entry
			if err := json.Unmarshal(p.partial, &e); err != nil {
				t.Fatal(err)
			}
			raw, p.partial = append(raw, e.Raw...), nil
		}
	})
	return raw
}

// oneFrameOrNothing delivers the text and holds the recorder's view against it.
func (p *target) oneFrameOrNothing(t testing.TB, text string) (accepted bool) {
	t.Helper()
	n := p.events.Add(1)
	out, err := p.Deliver(context.Background(), sessions.Delivery{Target: p.pinned, Profile: p.profile, Journal: journalID,
		Event: n, Token: n, Text: text})
	if err != nil {
		if errkind.Of(err) != errkind.Invalid {
			t.Fatalf("Deliver(%q): %v", text, err)
		}
		if raw := p.received(t, 0); len(raw) > 0 {
			t.Fatalf("refused %q, and yet received %q", text, raw)
		}
		return false
	}
	if out.State != sessions.Delivered {
		t.Fatalf("Deliver(%q) = %+v", text, out)
	}
	body := strings.ReplaceAll(text, "\r\n", "\n")
	want := "\x1b[200~" + body + "\x1b[201~\r"
	if got := string(p.received(t, len(want))); got != want {
		t.Fatalf("received %q, want %q", got, want)
	}
	if bad := foreignByte(body); bad >= 0 {
		t.Fatalf("inside the frame of %q stands %q at %d", text, body[bad], bad)
	}
	return true
}

// foreignByte is an independent reading of "printable, LF and TAB", on bytes and
// on runes; -1: nothing else.
func foreignByte(s string) int {
	for i, r := range s {
		c1 := r >= 0x7f && r < 0xa0
		invalid := r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd")
		if r < 0x20 && r != '\n' && r != '\t' || c1 || invalid || unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c' {
			return i
		}
	}
	return -1
}

func FuzzPane(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[201~\rrm -rf ~\r", "x;", "#{pid}", "Enter", "-R", "é\t—\n🚀", "\x00", "\r\n", "\xff", "\u202e",
		"\u009b201~", "👩\u200d💻", "1\ufe0f\u20e3", "'\"$(id)`"} {
		f.Add(s)
	}
	p := newTarget(f)
	f.Fuzz(func(t *testing.T, text string) { p.oneFrameOrNothing(t, text) })
}

// TestRandomTexts puts random ids, roles and bodies into the notification, as
// hostile as they come.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	p, rnd := newTarget(t), seeded(t)
	accepted, refused := 0, 0
	for range rounds(150, 10_000) {
		text := "NOTIFICATION: @" + hostile(rnd, 2) + " — Message reçu de @" + hostile(rnd, 2) + " : ptr:msg:" + hostile(rnd, 2) + hostile(rnd, 6)
		if p.oneFrameOrNothing(t, text) {
			accepted++
		} else {
			refused++
		}
	}
	t.Logf("%d arrived as one frame, %d were refused without a byte", accepted, refused)
	if accepted == 0 || refused == 0 {
		t.Errorf("the generator is one-sided: %d and %d", accepted, refused)
	}
}

// pieces are what attackers and accidents are made of; the first harmless ones
// are drawn more often, so that whole texts are accepted too.
var pieces = []string{
	"PMO", "01JXYZ", "word", "é", "—", "\n", "\t", ";", "\\;", "#{pane_id}", "#(id)", "$HOME", "`id`", "Enter", "C-c", "-R", "--", "'", `"`,
	"🚀", "你好", "%0", "{next}", "=x:", " ", "[201~", "|", "\r\n",
	"\x1b[201~", "\x1b", "\r", "\x00", "\x03", "\x7f", "\u009b", "\u0085", "\u2028", "\u202e", "\u200b", "\xff", "\xc3", "\U000e0041", "\ufffe",
}

func hostile(rnd *rand.Rand, most int) string {
	var b strings.Builder
	for range rnd.IntN(most + 1) {
		n := 28
		if rnd.IntN(12) == 0 {
			n = len(pieces)
		}
		b.WriteString(pieces[rnd.IntN(n)])
	}
	return b.String()
}
