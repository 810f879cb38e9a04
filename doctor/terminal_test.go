package doctor

import (
	"os"
	"strings"
	"testing"

	"arkamsg/internal/config"
)

func TestTmuxVersions(t *testing.T) {
	cases := []struct {
		said  string
		state State
		knows []string
	}{
		{"tmux 2.9a", Fail, nil},
		{"tmux 3.0", OK, []string{"dead pane", "ESC"}},
		{"tmux 3.3a", OK, []string{"dead pane", "ESC"}},
		{"tmux 3.5a", OK, []string{"ESC"}},
		{"tmux next-3.6", OK, []string{"ESC"}},
		{"tmux 3.7", OK, nil},
		{"tmux 4.0", OK, nil},
		{"tmux master", Warn, nil},
	}
	for _, c := range cases {
		f := judgeTmux(c.said)
		if f.State != c.state || (f.State == OK) != (f.Remedy == "") {
			t.Errorf("%s: %+v", c.said, f)
		}
		for _, word := range []string{"dead pane", "ESC"} {
			known := false
			for _, k := range c.knows {
				known = known || k == word
			}
			if strings.Contains(f.Detail, word) != known {
				t.Errorf("%s: %q is told: %t", c.said, word, !known)
			}
		}
	}
}

func TestWALAlarm(t *testing.T) {
	p := &patient{home: config.Home(t.TempDir())}
	wal := p.home.Journal() + "-wal"
	for size, want := range map[int64]State{-1: OK, 1 << 20: OK, walAlarm + 1: Warn} {
		if size >= 0 {
			must(t, os.WriteFile(wal, nil, 0o600))
			must(t, os.Truncate(wal, size))
		}
		if f := checkWAL(t.Context(), p); f.State != want {
			t.Errorf("%d bytes: %+v", size, f)
		}
		_ = os.Remove(wal)
	}
}
