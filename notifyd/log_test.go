package notifyd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arkamsg/journal"
)

var transitionLines = []string{lineDispatched, lineAdopted, lineRetried, lineDelivered, lineBlocked, lineFailed, lineEnded}

// lines returns what was logged about one message, by kind of line.
func (s *scene) lines(id string) (transitions []string) {
	s.Helper()
	s.log.Lock()
	defer s.log.Unlock()
	for text := range strings.Lines(s.log.text.String()) {
		var line map[string]any
		s.check(json.Unmarshal([]byte(text), &line))
		if what := line["msg"].(string); line[keyMessage] == id && slices.Contains(transitionLines, what) {
			for _, key := range []string{keyKind, keyTarget, keyAttempt} {
				if line[key] == nil {
					s.Errorf("%q of %s has no %s", what, id, key)
				}
			}
			transitions = append(transitions, what)
		}
	}
	return transitions
}

// Every transition of the journal is one line with the message's id, and no line
// holds what the message says.
func TestOneLinePerTransition(t *testing.T) {
	s := set(t, "LD")
	s.more = "policy: {retry: {max_attempts: 2, backoff: [0s]}}\n"
	s.configure("LD", "PMO", "Ghost")
	s.reluctant("PMO")
	s.start()
	s.push("LD", "PMO", "swallowed") // before the escalation to the same pane
	s.push("PMO", "LD", "arrives")
	s.push("LD", "Ghost", "absent")
	s.reaches("arrives", journal.Delivered, "")
	s.reaches("absent", journal.Failed, journal.ReasonMissingSession)
	s.reaches("swallowed", journal.Failed, journal.ReasonAttemptsExhausted)
	for id, want := range map[string][]string{
		"arrives":   {lineDispatched, lineDelivered},
		"absent":    {lineDispatched, lineBlocked},
		"swallowed": {lineDispatched, lineRetried, lineDispatched, lineFailed},
	} {
		eventually(t, "the last line of "+id, func() bool { return len(s.lines(id)) >= len(want) })
		if got := s.lines(id); !slices.Equal(got, want) || len(got) != len(s.get(id).History) {
			t.Errorf("%s: %q for %d transitions, want %q", id, got, len(s.get(id).History), want)
		}
	}
	for _, secret := range []string{"subject arrives", "body", "NOTIFICATION"} {
		if s.log.count(secret) > 0 {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// The keys that programs search for are in one place.
func TestLogKeysAreConstants(t *testing.T) {
	literal := regexp.MustCompile(`\b(?:log\.(?:Info|Warn|Error|Debug)\("[^"]*",|log\.With\(|d\.line\([^"\n]*,) ?"`)
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := literal.Find(text); m != nil && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s: %s...", name, m)
		}
	}
}
