package fault

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"arkamsg/journal"
)

// A daemon is stopped beyond its lease, its lock file is removed, a second one
// is forced in beside it, and the first wakes up in the middle of a step that it
// believes to be its own.
func TestZombie(t *testing.T) {
	t.Parallel()
	ttl := time.Duration(size(1500, 2000)) * time.Millisecond
	s := newStage(t, "SIGSTOP past the lease, two daemons", "A", "B")
	for range size(2, 25) {
		s.zombie(ttl)
	}
	s.certain()
	s.termsRise()
}

func (s *stage) zombie(ttl time.Duration) {
	s.Helper()
	first := s.shortLived(ttl)
	if !first.awaitReady(s) {
		s.Fatalf("no first daemon:\n%s", first.said.String())
	}
	s.send(6, s.panes...)
	s.someTime(150*time.Millisecond, first)
	var second *proc
	s.stopBetweenWrites(first, func() {
		s.check(os.Remove(s.home.Lock()))
		second = s.shortLived(ttl)
		if !second.awaitReady(s) {
			s.Fatalf("no second daemon:\n%s", tail(second.said.String()))
		}
		s.send(4, s.panes...)
		if s.rng.IntN(2) == 0 {
			s.drained(second)
		} else {
			s.someTime(300*time.Millisecond, second)
		}
	})
	s.ends(first, 4)
	s.send(2, s.panes...)
	s.drained(second)
	second.kill()
}

// stopBetweenWrites stops a daemon at an instant at which it does not hold
// SQLite's write lock. Stopped inside of a transaction it keeps every writer
// waiting until it goes on or is killed, and there is no zombie to speak of.
func (s *stage) stopBetweenWrites(d *proc, during func()) {
	s.Helper()
	for free := false; !free; {
		s.stop(d.cmd.Process.Pid, func() {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			if free = s.room.Journal.Update(ctx, func(*journal.Tx) error { return nil }) == nil; free {
				during()
			}
		})
		s.someTime(20*time.Millisecond, d)
	}
}

// termsRise: once a later term has touched an event, no earlier one does.
func (s *stage) termsRise() {
	s.Helper()
	for _, r := range s.records() {
		whole, err := s.room.Journal.Get(s.Context(), r.MessageID)
		s.check(err)
		var last journal.Term
		for _, h := range whole.History {
			if h.Term < last {
				s.Errorf("%s: term %d wrote after term %d", r.MessageID, h.Term, last)
			}
			last = max(last, h.Term)
		}
	}
}

// The tmux server stands still in the middle. What was asked of it may still
// happen when it wakes; status answers meanwhile.
func TestServerStopped(t *testing.T) {
	t.Parallel()
	s := newStage(t, "tmux server stopped in the middle", "A", "B", "C")
	d := s.daemon()
	for range size(1, 5) {
		s.send(size(12, 60), s.panes...)
		s.someTime(500*time.Millisecond, d)
		s.stop(s.server(), func() {
			s.statusAnswers()
			s.someTime(time.Millisecond, d)
			eventually(time.Duration(size(3, 10))*time.Second, d.ended)
		})
		s.drained(d)
	}
	s.certain()
}

// statusAnswers demands the health of the home although something hangs.
func (s *stage) statusAnswers() {
	s.Helper()
	start := time.Now()
	s.ends(s.arkamsg(nil, "status", "--json"), 0)
	if took := time.Since(start); took > 5*time.Second {
		s.Errorf("status took %v", took)
	}
}

// One agent hangs. Its own lane may wait, or end honestly; the others do not
// notice.
func TestHungPane(t *testing.T) {
	t.Parallel()
	s := newStage(t, "one agent stopped, others go on", patient, "B", "C")
	d := s.daemon()
	s.stop(s.nursed(), func() {
		s.send(2, patient)
		n := size(10, 100)
		s.send(n, "B", "C")
		if !eventually(patience, func() bool { return len(s.submitted("B"))+len(s.submitted("C")) == n }) {
			s.Errorf("a hung agent holds up the others: %s", s.left())
		}
		s.statusAnswers()
		if got := s.submitted(patient); len(got) > 0 {
			s.Errorf("a stopped agent took %q", got)
		}
		for _, r := range s.records() {
			if r.Lane == lane(patient) && r.State == journal.Delivered {
				s.Errorf("%s is delivered into an agent that hangs", r.MessageID)
			}
		}
	})
	s.clearDraft(patient)
	s.drained(d)
	s.verdict()
}

// clearDraft does once what the runbook asks of a person when an agent hung
// with our text in its composer: the message was reported indeterminate, the
// next one waits for the composer to be cleared.
func (s *stage) clearDraft(role string) {
	s.Helper()
	drafted := func() bool {
		sum, err := s.room.Journal.Summary(context.Background())
		s.check(err)
		return slices.ContainsFunc(sum.Waiting, func(w journal.Waiting) bool {
			return w.Lane == lane(role) && w.Reason == journal.ReasonHumanDraft
		})
	}
	eventually(patience, func() bool { return s.idle() || drafted() })
	if !s.idle() {
		s.tmux("send-keys", "-t", "="+session(role)+":", "C-u")
	}
}

func lane(role string) journal.Lane { return journal.Lane("pane:" + session(role)) }
