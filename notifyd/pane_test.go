package notifyd

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

// shut and reopen use copy-mode, the gate that a test can work by itself.
func (s *scene) shut(role string)   { s.tmux("copy-mode", "-t", "="+session(role)+":") }
func (s *scene) reopen(role string) { s.tmux("send-keys", "-t", "="+session(role)+":", "-X", "cancel") }

// waits until the message waits at the gate.
func (s *scene) waits(id string, reason journal.Reason) {
	s.Helper()
	eventually(s, id+" waits for "+string(reason), func() bool {
		sum, err := s.room.Journal.Summary(context.Background())
		s.check(err)
		for _, w := range sum.Waiting {
			if string(w.MessageID) == id && w.Reason == reason {
				return true
			}
		}
		return false
	})
}

func TestShutGateIsWrittenOnceAndThenDelivers(t *testing.T) {
	s := set(t, "PMO")
	s.start()
	s.shut("PMO")
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonPaneInMode)
	before := s.writes()
	for range 5 {
		<-time.After(pollMax) // several looks
	}
	if n := s.writes() - before; n != 0 {
		t.Errorf("%d writes while nothing changed", n)
	}
	if n := s.log.count(`"msg":"waiting"`); n != 1 {
		t.Errorf("%d lines about one wait", n)
	}
	s.reopen("PMO")
	rec := s.reaches("m1", journal.Delivered, "")
	if rec.Attempts != 1 || s.typed("PMO", "m1") != 1 {
		t.Errorf("%d attempts, typed %d times", rec.Attempts, s.typed("PMO", "m1"))
	}
}

// writes counts the changes of work that is in hand, from the first call on.
func (s *scene) writes() (n int64) {
	s.Helper()
	s.check(s.sql(`CREATE TABLE IF NOT EXISTS changes(n INTEGER)`))
	s.check(s.sql(`CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE ON work BEGIN INSERT INTO changes VALUES(1); END`))
	s.check(s.room.Journal.DB().Read(context.Background(), func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM changes`).Scan(&n)
	}))
	return n
}

func TestPulledBeforeItIsTyped(t *testing.T) {
	s := set(t, "PMO")
	first := s.start()
	s.shut("PMO")
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonPaneInMode)
	s.read("m1")
	s.reaches("m1", journal.Delivered, "")

	// the same across a restart: the next daemon looks before it types
	s.push("LD", "PMO", "m2")
	s.waits("m2", journal.ReasonPaneInMode)
	first.leave()
	s.read("m2")
	s.reopen("PMO")
	s.start()
	s.reaches("m2", journal.Delivered, "")
	s.push("LD", "PMO", "m3")
	s.reaches("m3", journal.Delivered, "")
	if s.typed("PMO", "m1")+s.typed("PMO", "m2") != 0 || s.typed("PMO", "m3") != 1 {
		t.Error("a message was typed that had been read")
	}
}

func (s *scene) read(id string) {
	s.Helper()
	items, err := s.room.Pull(context.Background(), id)
	s.check(err)
	s.check(s.room.MarkRead(context.Background(), items))
}

func TestPoliteStopLeavesAWaitingMessageToTheNext(t *testing.T) {
	s := set(t, "PMO")
	first := s.start()
	s.shut("PMO")
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonPaneInMode)
	first.leave()
	if rec := s.get("m1"); rec.State != journal.Dispatched {
		t.Fatalf("after the stop it is %s", rec.State)
	}
	s.reopen("PMO")
	s.start()
	rec := s.reaches("m1", journal.Delivered, "")
	if rec.Attempts != 1 || s.typed("PMO", "m1") != 1 {
		t.Errorf("%d attempts, typed %d times", rec.Attempts, s.typed("PMO", "m1"))
	}
}

// Nothing was typed while it waited, so nothing is in doubt when the agent comes
// up again in another pane, whether or not the daemon saw it go.
func TestNewPaneWhileWaiting(t *testing.T) {
	for name, restart := range map[string]bool{"same daemon": false, "next daemon": true} {
		t.Run(name, func(t *testing.T) {
			s := set(t, "LD", "PMO")
			d := s.start()
			s.shut("PMO")
			s.push("LD", "PMO", "m1")
			s.waits("m1", journal.ReasonPaneInMode)
			if restart {
				d.leave()
			}
			s.tmux("rename-session", "-t", "="+session("PMO"), "other")
			s.agent(session("PMO"))
			if restart {
				s.start()
			}
			s.reaches("m1", journal.Delivered, "")
			if n := s.typed("PMO", "m1"); n != 1 {
				t.Errorf("typed %d times", n)
			}
		})
	}
}

// A session that is renamed is not on the allow-list any more, although its pane
// is still the one that was looked at.
func TestRenamedWhileWaiting(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.start()
	s.shut("PMO")
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonPaneInMode)
	s.tmux("rename-session", "-t", "="+session("PMO"), "private")
	s.tmux("send-keys", "-t", "=private:", "-X", "cancel")
	s.reaches("m1", journal.Failed, journal.ReasonMissingSession)
	if n := s.typed("PMO", "m1"); n != 0 {
		t.Errorf("typed %d times into a session of another name", n)
	}
}

// The text stands in the composer when its pane goes away: nobody can know, and
// nobody types it again.
func TestPaneGoneAfterTyping(t *testing.T) {
	for name, restart := range map[string]bool{"same daemon": false, "next daemon": true} {
		t.Run(name, func(t *testing.T) {
			s := set(t, "LD")
			s.reluctant("PMO")
			d := s.start()
			s.push("LD", "PMO", "m1")
			eventually(t, "the text stands in the composer", func() bool {
				screen, err := s.lab.Screen(session("PMO"))
				return err == nil && strings.Contains(screen, "ptr:msg:m1")
			})
			s.shut("PMO") // no Enter while we look away
			s.waits("m1", journal.ReasonPaneInMode)
			if restart {
				d.leave()
			}
			s.tmux("kill-session", "-t", "="+session("PMO"))
			s.agent(session("PMO"))
			if restart {
				s.start()
			}
			s.reaches("m1", journal.Failed, journal.ReasonIndeterminate)
			s.push("LD", "PMO", "m2")
			s.reaches("m2", journal.Delivered, "")
			if n := s.typed("PMO", "m1"); n != 0 {
				t.Errorf("typed %d times into another pane", n)
			}
		})
	}
}

// A journal that cannot be written for a while must not make the daemon forget
// that it has typed.
func TestErrorAfterTypingDoesNotTypeAgain(t *testing.T) {
	s := set(t, "LD", "PMO")
	d := s.start()
	s.check(s.sql(`CREATE TRIGGER refuse BEFORE DELETE ON work BEGIN SELECT RAISE(ABORT, 'not now'); END`))
	s.push("LD", "PMO", "m1")
	eventually(t, "typed", func() bool { return s.typed("PMO", "m1") == 1 })
	eventually(t, "the record fails", func() bool { return s.log.count("not now") > 0 })
	s.tmux("kill-session", "-t", "="+session("PMO"))
	s.agent(session("PMO"))
	<-time.After(2 * afterError) // it has tried again
	s.check(s.sql(`DROP TRIGGER refuse`))
	s.reaches("m1", journal.Failed, journal.ReasonIndeterminate)
	if n := s.typed("PMO", "m1"); n != 1 {
		t.Errorf("typed %d times", n)
	}
	if n := s.log.count("not now"); n > 2 {
		t.Errorf("one lasting error was logged %d times", n)
	}
	d.leave()
}

// A claim that another one has overtaken in the same pane is given back and
// made anew: two sessions of a group share their panes but not their lane.
func TestOvertakenClaimIsMadeAnew(t *testing.T) {
	s := set(t, "LD", "PMO")
	var claims atomic.Int64
	s.start(func(o *Options) {
		o.Observe = func(t journal.Ticket, _ journal.State, _ journal.Reason) { claims.Store(t.Claim) }
	})
	s.push("LD", "PMO", "m1")
	s.reaches("m1", journal.Delivered, "")
	mark := "@arkamsg_" + s.room.Journal.ID()
	eventually(t, "a claim", func() bool { return claims.Load() > 0 })
	s.tmux("set-option", "-p", "-t", "="+session("PMO")+":", mark, "4")
	s.push("LD", "PMO", "m2")
	rec := s.reaches("m2", journal.Delivered, "")
	if s.typed("PMO", "m2") != 1 || rec.Attempts < 2 {
		t.Errorf("typed %d times in %d attempts", s.typed("PMO", "m2"), rec.Attempts)
	}
}

// What can never be typed ends; it must not hold up its lane.
func TestHopelessMessagesEnd(t *testing.T) {
	s := set(t, "LD", "PMO")
	for id, body := range map[journal.MessageID]string{
		"bad-1": `{"type":"notify"}`,
		"bad-2": `[]`,
	} {
		_, err := s.room.Journal.Append(t.Context(), journal.NewEvent{
			MessageID: id, Kind: journal.KindNotify, Lane: LaneOf(session("PMO")), Body: []byte(body)})
		s.check(err)
	}
	s.start()
	s.push("LD", "PMO", "m1")
	s.reaches("m1", journal.Delivered, "")
	s.reaches("bad-1", journal.Failed, journal.ReasonInvalid)
	s.reaches("bad-2", journal.Failed, journal.ReasonInvalid)
}

// A stuck tmux delays nobody's stop and is said in the journal.
func TestStuckTmuxWaits(t *testing.T) {
	s := set(t, "PMO")
	d := s.start()
	s.freeze()
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonTmuxUnavailable)
	began := time.Now()
	d.leave()
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the stop took %v", took)
	}
	s.thaw()
	s.start()
	s.reaches("m1", journal.Delivered, "")
	if n := s.typed("PMO", "m1"); n != 1 {
		t.Errorf("typed %d times", n)
	}
}

// reluctant is an agent whose Enter does nothing for a while.
func (s *scene) reluctant(role string) {
	s.Helper()
	codex, err := s.lab.Program("codex")
	s.check(err)
	s.tmux("new-session", "-d", "-s", session(role), "-x", "100", "-y", "30", "--",
		codex, "standin", "--log", s.logOf(session(role)), "--swallow-enter", "1000")
}

func (s *scene) sql(statement string) error {
	return s.room.Journal.DB().Write(context.Background(), func(tx *sqlite.Tx) error {
		_, err := tx.Exec(statement)
		return err
	})
}
