package doctor

import "testing"

const shownID = "01J8ZQ4T5M6N7P8Q9R0S1T2V3W"

func TestSee(t *testing.T) {
	const line = "NOTIFICATION: [Notification-Auto] @PMO — Message reçu de @LD : ptr:msg:" + shownID + " — [Message-READ]"
	cases := map[string]struct {
		screen string
		want   sight
	}{
		"in codex's composer":     {"• earlier\n\n› " + line + "\n  \"\"\n\n  ? for shortcuts", sight{true, true}},
		"in a frame":              {"╭────╮\n│ > " + line + " │\n│ \"\"   │\n╰────╯", sight{true, true}},
		"wrapped within the id":   {"› " + line[:90] + "\n  " + line[90:] + "\n  \"\"", sight{true, true}},
		"no trailer yet":          {"› " + line, sight{true, false}},
		"trailer on the same row": {"• " + line + ` ""`, sight{true, false}},
		"trailer before the line": {"  \"\"\n› " + line, sight{true, false}},
		"another message":         {"› NOTIFICATION: ptr:msg:OTHER\n  \"\"", sight{}},
		"quoted in a sentence":    {"• I saw NOTIFICATION: ptr:msg:" + shownID + "\n  \"\"", sight{}},
		"nothing":                 {"", sight{}},
	}
	for name, c := range cases {
		if got := see(c.screen, shownID, `""`); got != c.want {
			t.Errorf("%s: saw %+v, want %+v", name, got, c.want)
		}
	}
}

func TestSeeWithoutTrailer(t *testing.T) {
	got := see("NOTIFICATION: ptr:msg:"+shownID+"\n\n", shownID, "")
	if got != (sight{line: true}) {
		t.Errorf("saw %+v", got)
	}
}
