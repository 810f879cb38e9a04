package fault

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pushLabels are the steps of a push, in the order in which it passes them, and
// how often.
var pushLabels = []point{
	{"durable:after-temp", 1, 2},
	{"durable:after-link", 1, 2},
	{"durable:before-dirsync", 1, 2},
	{"messaging:after-intent", 1, 1},
	{"messaging:before-publish", 1, 1},
	{"messaging:after-publish", 1, 1},
	{"notifyd:after-publish", 1, 1},
	{"journal:begun", 1, 1},
	{"journal:written", 1, 1},
	{"journal:before-commit", 1, 1},
	{"journal:committed", 1, 1},
	{"journal:head-written", 1, 1},
	{"notifyd:after-append", 1, 1},
	{"messaging:before-done", 1, 1},
}

// A push is killed at each of its steps. Half of them are repeated with the same
// id at once, the rest only after a daemon has repaired what it found. In the
// end there is one file, one event, one submission; and before that, file and
// event belong together.
func TestKilledPush(t *testing.T) {
	t.Parallel()
	s := newStage(t, "push killed at its labels, repeated", "A", "B")
	died := s.killPushes(size(1, 15))
	for _, p := range pushLabels {
		if died[p.label] == 0 {
			t.Errorf("no push died at %s: is the label gone?", p.label)
		}
	}
	d := s.daemon()
	s.drained(d)
	s.together()
	for id := range s.sent {
		s.ends(s.pushOnce(pushID(id)), 0)
	}
	s.drained(d)
	s.together()
	s.certain()
	if files := s.files(); len(files) != s.sent {
		t.Errorf("%d messages were pushed, %d files are there", s.sent, len(files))
	}
	for id, n := range s.files() {
		if n != 1 {
			t.Errorf("%s is in %d files", id, n)
		}
	}
}

func pushID(n int) string { return fmt.Sprintf("push-%03d", n) }

// killPushes kills one push per label and round and counts who died where.
func (s *stage) killPushes(rounds int) map[string]int {
	died := map[string]int{}
	for i := range rounds * len(pushLabels) {
		p := pushLabels[i%len(pushLabels)]
		id := pushID(s.sent)
		s.sent++
		push := s.pushOnce(id, arm(p.label, p.from+s.rng.IntN(p.passes)))
		if !push.endsWithin(patience) {
			s.Fatalf("push does not end at %s", p.label)
		}
		if push.killed() {
			died[p.label]++
		}
		if (i/len(pushLabels)+i)%2 == 0 {
			s.ends(s.pushOnce(id), 0)
		}
	}
	return died
}

// together demands that a message has a file exactly when it has an event.
func (s *stage) together() {
	s.Helper()
	files := s.files()
	events := map[string]int{}
	for _, r := range s.records() {
		events[string(r.MessageID)]++
	}
	for id := range s.sent {
		if f, e := files[pushID(id)], events[pushID(id)]; f != e || f > 1 {
			s.Errorf("%s: %d files, %d events", pushID(id), f, e)
		}
	}
}

// files counts the message files of the backlog by message_id.
func (s *stage) files() map[string]int {
	found := map[string]int{}
	err := filepath.WalkDir(filepath.Join(string(s.home), "messaging", "msg"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(name)
		_, id, ok := strings.Cut(string(text), "\nmessage_id: ")
		if !ok {
			s.Errorf("%s is no message:\n%s", name, text)
		}
		found[strings.Trim(strings.TrimSpace(id), `"'`)]++
		return err
	})
	s.check(err)
	return found
}
