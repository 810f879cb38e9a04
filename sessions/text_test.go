package sessions_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"arkamsg/internal/errkind"
	"arkamsg/internal/standin"
	"arkamsg/sessions"
)

// Text is data: none of it is a separator, a key, an option or a format.
func TestTextArrivesAsItIs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"trailing semicolon":   "do this;",
		"escaped semicolon":    `do this\;`,
		"only a semicolon":     ";",
		"key names":            "Enter C-c Escape BSpace",
		"one key name":         "Enter",
		"options":              "-R -t %0 --",
		"formats":              "#{pane_id} #(touch hacked) #[fg=red] %H:%M ##",
		"quotes":               `'"$HOME` + "`id`" + `\n{}~`,
		"utf-8":                "déjà vu — œuvre ’ 你好 🚀 ﷽ कि",
		"tabs and lines":       "a\tb\n\n  c\n",
		"leading blanks":       "   indented",
		"slash":                "/clear",
		"frame words":          "[200~ [201~ ^[[201~",
		"a placeholder":        "[Pasted text #1 +2 lines]",
		"pipes":                "a|b||c│d",
		"a prompt":             "› 1. Yes",
		"as wide as the pane":  strings.Repeat("x", 98),
		"wider than the pane":  strings.Repeat("word ", 60),
		"long word, two lines": strings.Repeat("y", 150) + "\n" + strings.Repeat("z", 150),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.agent("agent", "codex")
			d := b.delivery("agent", "codex", text)
			d.Profile.Trailer, d.Profile.Dialog = "", nil
			b.delivered(d)
			b.submitted("agent", text)
			want := "\x1b[200~" + text + "\x1b[201~\r"
			if got := string(standin.RawBytes(b.entries("agent"))); got != want {
				t.Errorf("received %q, want %q", got, want)
			}
		})
	}
}

func TestLargeBody(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("0123456789abcdef — é\n", 200_000/22) + "end"
	for _, profile := range []string{"codex", "generic"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.agent("agent", profile, "--profile", profile)
			d := b.delivery("agent", profile, body)
			if profile == "generic" {
				d.Profile.Proof = sessions.ProofNone
			}
			b.delivered(d)
			eventually(t, "all of it was submitted", func() bool { return len(standin.Submitted(b.entries("agent"))) == 1 })
			b.submitted("agent", d.Profile.Frame(body))
		})
	}
}

func TestCRLFBecomesLF(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	b.delivered(b.delivery("agent", "codex", "one\r\ntwo"))
	b.submitted("agent", "one\ntwo"+trailer)
	if raw := standin.RawBytes(b.entries("agent")); bytes.Count(raw, []byte("\r")) != 1 {
		t.Errorf("received %q: only the Enter is a CR", raw)
	}
}

// What could leave the frame or press a key is refused at the door, by name.
func TestHostileTextIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	for _, text := range []string{
		"", "a\x1b[201~\rrm -rf ~\r", "a\rb", "bell\a", "nul\x00", "del\x7f", "c1\u009b201~", "nel\u0085", "ls\u2028",
		"bidi\u202e", "zero\u200bwidth", "bad\xff", "tag\U000e0041",
	} {
		_, err := b.Deliver(context.Background(), b.delivery("agent", "codex", text))
		if errkind.Of(err) != errkind.Invalid {
			t.Errorf("Deliver(%q) = %v, want invalid", text, err)
		}
	}
	b.untouched("agent")
}

func TestDeliveryIsChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.agent("agent", "codex")
	good := b.delivery("agent", "codex", notice(1))
	for name, spoil := range map[string]func(d *sessions.Delivery){
		"journal": func(d *sessions.Delivery) { d.Journal = "x}#(id)" },
		"event":   func(d *sessions.Delivery) { d.Event = 0 },
		"token":   func(d *sessions.Delivery) { d.Token = 0 },
		"pane":    func(d *sessions.Delivery) { d.Target.PaneID = "{next}" },
		"session": func(d *sessions.Delivery) { d.Target.SessionID = "" },
		"submit":  func(d *sessions.Delivery) { d.Profile.Submit = "rm -rf" },
		"size":    func(d *sessions.Delivery) { d.Text = strings.Repeat("x", 1<<20+1) },
	} {
		d := good
		spoil(&d)
		if _, err := b.Deliver(context.Background(), d); errkind.Of(err) != errkind.Invalid {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	b.untouched("agent")
}
