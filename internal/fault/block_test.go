package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"arkamsg/journal"
	"arkamsg/messaging"
)

// unreachable is one way of writing to nobody (ARKA §11).
type unreachable struct {
	name   string
	panes  []string // who is there
	sender string
	target func(e *messaging.Envelope)
	reason journal.Reason
	told   string // who learns of it
	shown  string // the agent as the sender named it
}

func toGhost(e *messaging.Envelope) { e.ToAgent = "Ghost" }

// toStranger names a session that exists and is on nobody's list.
func toStranger(e *messaging.Envelope) { e.ToAgent, e.Session = "", session("Stranger") }

var unreachables = []unreachable{
	{"absent session, from LD", []string{"LD", "PMO", "Owner"}, "LD", toGhost, journal.ReasonMissingSession, "PMO", "Ghost"},
	{"absent session, from PMO", []string{"PMO", "Owner"}, "PMO", toGhost, journal.ReasonMissingSession, "Owner", "Ghost"},
	{"absent session, no PMO", []string{"LD", "Owner"}, "LD", toGhost, journal.ReasonMissingSession, "Owner", "Ghost"},
	{"not on the list", []string{"LD", "PMO", "Stranger"}, "LD", toStranger, journal.ReasonNotAllowed, "PMO", session("Stranger")},
}

// Messages to nobody, with daemons killed on the way: each is blocked
// once, never retried, returned once with the exact sentence, escalated once.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for i, u := range unreachables {
		t.Run(u.name, func(t *testing.T) {
			n := size(3, 50)
			if i == 0 {
				n = size(6, 50)
			}
			s := newStage(t, "blocked: "+u.name, u.panes...)
			s.block(u, n)
			s.certain()
			s.consequences(u, n)
		})
	}
}

func (s *stage) block(u unreachable, n int) {
	envs := make([]messaging.Envelope, n)
	for i := range envs {
		envs[i] = s.envelope(u.sender, "")
		u.target(&envs[i])
	}
	s.post(envs)
	labels := []string{"journal:committed", "notifyd:after-block", "journal:before-commit"}
	for i := range size(6, 30) {
		d := s.daemon(arm(labels[i%len(labels)], 2+s.rng.IntN(6))) // the first commit is the lease
		if !eventually(patience, func() bool { return d.ended() || s.idle() }) {
			s.Fatalf("neither dead nor done: %s", s.left())
		}
		d.kill()
	}
	d := s.daemon()
	s.drained(d)
	d.kill()
}

// consequences demands, per message: one failure without a retry, one return
// with ARKA's sentence in the sender's pane, one escalation in the right one.
func (s *stage) consequences(u unreachable, n int) {
	s.Helper()
	if len(s.records()) != 3*n {
		s.Errorf("%d messages became %d events, want %d", n, len(s.records()), 3*n)
	}
	returned := s.texts(u.sender)
	escalated := s.texts(u.told)
	for i := 1; i <= n; i++ {
		id := fmt.Sprintf("m-%05d", i)
		rec := s.event(id)
		if rec.State != journal.Failed || rec.Reason != u.reason || rec.Attempts != 1 {
			s.Errorf("%s: %s %s after %d attempts", id, rec.State, rec.Reason, rec.Attempts)
		}
		sentence := fmt.Sprintf("NOTIFICATION: session %s non active — message non livré. Escalade : %s.\nptr:msg:%s\n\"\"", u.shown, u.told, id)
		if returned[sentence] != 1 {
			s.Errorf("%s was given %q %d times", u.sender, sentence, returned[sentence])
		}
		notice := fmt.Sprintf("NOTIFICATION: [Escalade] @%s — session %s non active, message de @%s non livré : ptr:msg:%s — [Message-READ]\n\"\"", u.told, u.shown, u.sender, id)
		if escalated[notice] != 1 {
			s.Errorf("%s was given %q %d times", u.told, notice, escalated[notice])
		}
	}
	s.counted(u, int64(n))
	if len(s.texts("Stranger")) > 0 {
		s.Error("a session that is not on the list was typed into")
	}
}

func (s *stage) counted(u unreachable, n int64) {
	s.Helper()
	sum, err := s.room.Journal.Summary(context.Background())
	s.check(err)
	want := map[string]int64{"retries_total": 0, "notify_return_to_sender_total": n, "dead_letters_total": n,
		"escalation_to_pmo_total": 0, "escalation_to_owner_total": 0,
		"blocked_missing_session_total": 0, "allowlist_reject_total": 0}
	want[map[string]string{"PMO": "escalation_to_pmo_total", "Owner": "escalation_to_owner_total"}[u.told]] = n
	want[map[journal.Reason]string{journal.ReasonMissingSession: "blocked_missing_session_total",
		journal.ReasonNotAllowed: "allowlist_reject_total"}[u.reason]] = n
	for name, w := range want {
		if sum.Counters[name] != w {
			s.Errorf("%s is %d, want %d", name, sum.Counters[name], w)
		}
	}
}

func (s *stage) event(id string) journal.Record {
	s.Helper()
	rec, err := s.room.Journal.Get(context.Background(), journal.MessageID(id))
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		s.Fatal(err)
	}
	return rec
}

// texts counts what a role was given; nothing for one without a pane.
func (s *stage) texts(role string) map[string]int {
	given := map[string]int{}
	for _, p := range s.panes {
		if p != role {
			continue
		}
		for _, text := range s.submitted(role) {
			given[text]++
		}
	}
	return given
}
