package notifyd

import (
	"context"
	"maps"
	"testing"
	"time"

	"arkamsg/journal"
	"arkamsg/messaging"
)

func TestBlockTellsSenderAndOneEscalation(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.start()
	s.push("LD", "Ghost", "m1")
	s.reaches("m1", journal.Failed, journal.ReasonMissingSession)
	s.reaches("return:m1", journal.Delivered, "")
	s.reaches("escalation:m1", journal.Delivered, "")
	if n := s.typed("LD", "m1") + 10*s.typed("PMO", "m1"); n != 11 {
		t.Errorf("typed %d: expected one return and one escalation", n)
	}
	if s.count(journal.CounterReturned) != 1 || s.count(journal.CounterEscalatedPMO) != 1 || s.count(journal.CounterRetries) != 0 {
		t.Error("counters")
	}
}

// A person retries while the session is still missing: it is blocked again, and
// nobody is told twice.
func TestBlockedAgainTellsNobodyTwice(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.start()
	s.push("LD", "Ghost", "m1")
	s.reaches("m1", journal.Failed, journal.ReasonMissingSession)
	s.reaches("escalation:m1", journal.Delivered, "")
	_, err := s.room.Journal.RetryDead(context.Background(), "m1")
	s.check(err)
	s.reaches("m1", journal.Failed, journal.ReasonMissingSession)
	s.push("LD", "PMO", "m2") // the lanes go on
	s.reaches("m2", journal.Delivered, "")
	if n := s.count(journal.CounterEscalatedPMO) + s.count(journal.CounterReturned); n != 2 {
		t.Errorf("%d returns and escalations", n)
	}
	if n := s.log.count("step failed"); n != 0 {
		t.Errorf("%d steps failed", n)
	}
}

func TestReturnsAndEscalationsCauseNothing(t *testing.T) {
	s := set(t, "LD") // neither PMO nor Owner is there
	s.start()
	s.push("PMO", "Ghost", "m1")
	s.reaches("m1", journal.Failed, journal.ReasonMissingSession)
	s.reaches("return:m1", journal.Failed, journal.ReasonMissingSession)
	s.reaches("escalation:m1", journal.Failed, journal.ReasonNotAllowed)
	records, err := s.room.Journal.Events(context.Background(), journal.Filter{Limit: 100})
	s.check(err)
	if len(records) != 3 {
		t.Errorf("%d events: %+v", len(records), records)
	}
}

func TestOwnerIsToldWhenPMOCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		agents []string
		sender string
		more   string
		told   string
	}{
		"PMO is there":      {[]string{"LD", "PMO"}, "LD", "", "PMO"},
		"PMO sent it":       {[]string{"LD", "PMO"}, "PMO", "", "Owner"},
		"PMO by its alias":  {[]string{"LD", "PMO"}, "boss", "aliases: {boss: PMO}\n", "Owner"},
		"PMO is missing":    {[]string{"LD"}, "LD", "", "Owner"},
		"PMO does nothing":  {[]string{"LD", "PMO"}, "LD", "policy: {escalation: {inactive_after: 1ns}}\n", "Owner"},
		"PMO did something": {[]string{"LD", "PMO"}, "LD", "policy: {escalation: {inactive_after: 1h}}\n", "PMO"},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, c.agents...)
			s.more = c.more
			s.configure("LD", "PMO", "Ghost")
			d, err := NewDaemon(s.open(), Options{})
			s.check(err)
			role, counter := d.escalateTo(t.Context(), d.settings.Load(), c.sender)
			want := map[string]string{"PMO": journal.CounterEscalatedPMO, "Owner": journal.CounterEscalatedOwner}[c.told]
			if string(role) != c.told || counter != want {
				t.Errorf("%s (%s)", role, counter)
			}
		})
	}
}

// A tmux that does not answer proves no absence.
func TestSilentTmuxIsNoAbsence(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.freeze()
	d, err := NewDaemon(s.open(), Options{})
	s.check(err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if role, _ := d.escalateTo(ctx, d.settings.Load(), "LD"); role != "PMO" {
		t.Errorf("%s was told", role)
	}
}

func TestTestsAreNotTypedToOthers(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.start()
	d := draft("LD", "Ghost", "m1")
	d.Test = true
	_, err := s.room.Send(t.Context(), d)
	s.check(err)
	s.reaches("m1", journal.Failed, journal.ReasonMissingSession)
	s.reaches("return:m1", journal.Delivered, "")
	s.reaches("escalation:m1", journal.Delivered, "")
	if n := s.typed("LD", "m1") + s.typed("PMO", "m1"); n != 0 {
		t.Errorf("typed %d times", n)
	}
	for _, c := range []string{journal.CounterBlockedMissing, journal.CounterReturned, journal.CounterEscalatedPMO, journal.CounterDead} {
		if s.count(c) != 0 {
			t.Errorf("%s counted a test", c)
		}
	}
}

// A role's only session may have any name and provider; who is to be told is
// found by it as well.
func TestConsequencesReachSessionsOfAnyName(t *testing.T) {
	s := set(t)
	s.more = "allow: {LD: [desk], Owner: [boss-claude]}\n"
	s.configure()
	d, err := NewDaemon(s.open(), Options{})
	s.check(err)
	p := &parcel{ticket: journal.Ticket{Event: journal.Event{MessageID: "m1", Kind: journal.KindNotify}}}
	p.envelope.MessageID, p.envelope.Sender = "m1", "LD"
	events, err := d.consequences(t.Context(), p)
	s.check(err)
	told := map[string]string{}
	for _, e := range events {
		env, err := messaging.ParseEnvelope(e.Body)
		s.check(err)
		told[Target(e.Lane)] = env.Provider
	}
	if want := map[string]string{"desk": "codex", "boss-claude": "claude"}; !maps.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
