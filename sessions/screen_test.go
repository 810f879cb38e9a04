package sessions

import (
	"strings"
	"testing"
)

func TestDimTextIsNotTyped(t *testing.T) {
	for raw, want := range map[string]string{
		"› typed":                                "› typed",
		"› \x1b[2mhint\x1b[0m":                   "›",
		"› \x1b[2mhint\x1b[22m typed":            "›      typed",
		"\x1b[1;2mbold dim\x1b[m x":              "         x",
		"\x1b[38;5;2mgreen\x1b[0m":               "green",
		"\x1b[38;2;2;2;2mrgb\x1b[0m":             "rgb",
		"\x1b[48;5;2;2mcolour and dim":           "",
		"> \x1b[7mT\x1b[27;2mry this\x1b[0m":     ">",
		"> \x1b[7mT\x1b[27mry this":              "> Try this",
		"a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\": "ab",
		"c\x0e\x0fd":                             "cd",
	} {
		got := parseScreen(raw)
		if s := strings.TrimRight(string(got[0].typed), " "); s != want {
			t.Errorf("%q: typed %q, want %q", raw, s, want)
		}
	}
}

func TestStyleRunsOnToTheNextRow(t *testing.T) {
	rows := parseScreen("a\x1b[2mb\nc\x1b[0md\n")
	if len(rows) != 2 || string(rows[0].typed) != "a " || string(rows[1].typed) != " d" || text(rows) != "ab\ncd" {
		t.Errorf("rows %q", rows)
	}
}

func TestCompareComposer(t *testing.T) {
	const ours = "NOTIFICATION: hello world"
	for _, tc := range []struct {
		screen string
		want   holding
	}{
		{"› NOTIFICATION: hello\n  world\n\n  ? for shortcuts", holdsOurs},
		{"› [Pasted text #1 +2 lines]", holdsOurs},
		{"› \x1b[2m[Pasted Content 200 chars]\x1b[0m", holdsOurs},
		{"› NOTIFICATION: hello world and more", holdsMore},
		{"› wait NOTIFICATION: hello world", holdsMore},
		{"› NOTIFICATION: hello world\n  and this", holdsMore},
		{"› [Pasted text #1 +2 lines] and more", holdsMore},
		{"› see [Pasted text #1 +2 lines]", holdsMore},
		{"› NOTIFICATION: hel", holdsPart},
		{"› something else", holdsOther},
		{"› ", holdsNothing},
		{"› \x1b[2mAsk anything\x1b[0m", holdsNothing},
		{"› NOTIFICATION: hello world\n────\n› ", holdsNothing},
	} {
		p := mustProfiles(t)["codex"]
		screen := parseScreen(tc.screen)
		c, found := findComposer(p, screen)
		if !found {
			t.Errorf("%q: no composer", tc.screen)
			continue
		}
		if got := c.holds(p, c.row, ours); got != tc.want {
			t.Errorf("%q holds %v, want %v", tc.screen, got, tc.want)
		}
	}
}

// A blank row inside our own text does not end the composer.
func TestComposerHoldsBlankRows(t *testing.T) {
	p := mustProfiles(t)["codex"]
	c, _ := findComposer(p, parseScreen("› one\n\n  two\n\n  hint"))
	if got := c.holds(p, 0, "one\n\ntwo"); got != holdsOurs {
		t.Errorf("holds %v", got)
	}
}

// A draft whose first row is empty shows by the cursor.
func TestDraftOnTheSecondRow(t *testing.T) {
	p := mustProfiles(t)["codex"]
	c, _ := findComposer(p, parseScreen("›\n  second row\n"))
	if c.isEmpty(p, 1) {
		t.Error("the draft was not seen")
	}
	if !c.isEmpty(p, 0) {
		t.Error("a row under an empty composer is no draft while the cursor is elsewhere")
	}
}

func mustProfiles(t testing.TB) map[string]Profile {
	t.Helper()
	all, err := Profiles(nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// FuzzScreen: whatever a program draws, reading it neither panics nor loses the
// alignment of what is shown and what is typed.
func FuzzScreen(f *testing.F) {
	for _, s := range []string{"› x", "\x1b[", "\x1b[2;38;5m›", "│ > a │\n│ b │", "\x1b]8;;", "› \x1b[7m \x1b[2mhint", "[Pasted", "\xff\x1b"} {
		f.Add(s, "ours", 0)
	}
	profiles := mustProfiles(f)
	f.Fuzz(func(t *testing.T, raw, ours string, cursor int) {
		screen := parseScreen(raw)
		for _, l := range screen {
			if len(l.full) != len(l.typed) {
				t.Fatalf("%d shown, %d typed", len(l.full), len(l.typed))
			}
		}
		for _, p := range profiles {
			v := snapshot{screen: screen, cursorY: cursor, program: "codex"}
			w := v.gate(p)
			if strings.ContainsAny(w.Screen+w.Detail+w.Program, "\x1b\x00\r") {
				t.Fatalf("the view is not clean: %+v", w)
			}
			if p.Prompt == nil {
				continue
			}
			if c, found := findComposer(p, screen); found {
				c.holds(p, cursor, ours)
			}
		}
	})
}

// FuzzFields: what tmux prints is read or refused.
func FuzzFields(f *testing.F) {
	f.Add("1|2|$0|%0|3|0|0|0|0|1|2|80|24|7|s1|1-a-2|codex")
	f.Add("1|2|$0|%0|3|0|0|0|0|1|2|80|24||||a|b")
	f.Add("||||||||||||||||")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parseFields(s)
		if err == nil && !v.step.valid() {
			t.Fatalf("step %q", v.step)
		}
	})
}
