package notifyd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"arkamsg/journal"
)

// byHand writes a message file as an editor would.
func (s *scene) byHand(thread, name, id string) string {
	s.Helper()
	dir := filepath.Join(string(s.home), "messaging", "msg", thread)
	s.check(os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, name)
	text := fmt.Sprintf("tid: T-7F3K2A\ntype: STATUS\nstatus: TODO\nfrom: LD\nto: PMO\nsujet: %q\nmessage: |\n  by hand\nmessage_id: %s\n", id, id)
	s.check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

const thread = "20260601T182005Z—plan"

func TestFilesWrittenByHandAreAnnouncedOnce(t *testing.T) {
	s := set(t, "PMO")
	s.more = "messaging: {announce_files: true}\n"
	s.configure("LD", "PMO", "Ghost")
	old := s.byHand(thread, "TODO__LD@PMO__old.yaml", "h-old")
	past := time.Now().Add(-time.Hour)
	s.check(os.Chtimes(old, past, past))
	general := filepath.Join(string(s.home), "messaging", "general.yaml")
	s.check(os.WriteFile(general, []byte("anything: at all\n"), 0o600))

	first := s.start()
	eventually(t, "announcing is on", func() bool { return s.get(string(announceSince)).State != "" })
	s.byHand(thread, "TODO__LD@PMO__one.yaml", "h-1")
	s.reaches("h-1", journal.Delivered, "")
	s.byHand(thread, "TODO__LD@PMO__twin.yaml", "h-1") // the same id again is a problem, not news
	quiet := draft("LD", "PMO", "m-quiet")
	quiet.NoNotify = true
	_, err := s.room.Send(t.Context(), quiet)
	s.check(err)
	s.push("LD", "PMO", "m-loud")
	s.reaches("m-loud", journal.Delivered, "")
	first.leave()
	s.start()
	s.byHand("20260602T182005Z—new", "TODO__LD@PMO__two.yaml", "h-2")
	s.reaches("h-2", journal.Delivered, "")
	for id, want := range map[string]int{"h-old": 0, "h-1": 1, "h-2": 1, "m-quiet": 0, "m-loud": 1} {
		if n := s.typed("PMO", id); n != want {
			t.Errorf("%s was typed %d times, want %d", id, n, want)
		}
	}
	if b, err := os.ReadFile(general); err != nil || string(b) != "anything: at all\n" {
		t.Errorf("general.yaml: %q %v", b, err)
	}
}

// A push whose file is there and whose event is not is the push's business: to
// announce it would take its id away.
func TestAnnouncingLeavesPushesAlone(t *testing.T) {
	s := set(t)
	s.more = "messaging: {announce_files: true}\n"
	s.configure("LD", "PMO", "Ghost")
	room := s.open()
	d, err := NewDaemon(room, Options{})
	s.check(err)
	s.check(d.announce(t.Context()))         // switched on
	s.killed(draft("LD", "PMO", "m1"), true) // as between the two steps
	s.check(d.announce(t.Context()))
	if rec := s.get("m1"); rec.State != "" {
		t.Fatalf("announced: %s", rec.Body)
	}
	s.push("LD", "PMO", "m1")
	s.check(d.announce(t.Context()))
}

func TestBusyTreeIsLookedAtAllTheSame(t *testing.T) {
	changes := make(chan string)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !settled(t.Context(), changes) {
			t.Error("the context ended")
		}
	}()
	for deadline := time.After(patience / 4); ; {
		select {
		case changes <- "again":
		case <-done:
			return
		case <-deadline:
			t.Fatal("a tree that never rests is never looked at")
		}
	}
}
