package notifyd

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/messaging"
)

// files lists the messages of the backlog.
func (s *scene) files() []string {
	s.Helper()
	names, err := filepath.Glob(filepath.Join(string(s.home), "messaging", "msg", "*", "*.yaml"))
	s.check(err)
	return names
}

func (s *scene) outbox() []string {
	s.Helper()
	names, err := filepath.Glob(filepath.Join(string(s.home), "messaging", ".outbox", "*.json"))
	s.check(err)
	return names
}

func TestOneIDIsOneMessage(t *testing.T) {
	s := set(t)
	var wg sync.WaitGroup
	receipts := make([]Receipt, 30)
	for i := range receipts {
		room := s.room
		if i%10 == 0 {
			room = s.open()
		}
		wg.Go(func() {
			var err error
			receipts[i], err = room.Send(context.Background(), draft("LD", "PMO", "m1"))
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	created := 0
	for _, r := range receipts {
		if r.Created {
			created++
		}
		if r.EventID != receipts[0].EventID || r.Path != receipts[0].Path || r.MessageID != "m1" {
			t.Errorf("%+v differs from %+v", r, receipts[0])
		}
	}
	if created != 1 || len(s.files()) != 1 || len(s.outbox()) != 0 {
		t.Errorf("%d created, files %v, outbox %v", created, s.files(), s.outbox())
	}
	other := draft("LD", "PMO", "m1")
	other.Message.Body = "other\n"
	if _, err := s.room.Send(t.Context(), other); errkind.Of(err) != errkind.Conflict {
		t.Errorf("another body: %v", err)
	}
	if len(s.files()) != 1 || len(s.outbox()) != 0 {
		t.Errorf("a conflict left files %v, outbox %v", s.files(), s.outbox())
	}
}

// Published first and notified later is one message in one file; another text
// under the same id is a conflict either way.
func TestNotifiedLater(t *testing.T) {
	s := set(t)
	quiet := draft("LD", "PMO", "m1")
	quiet.NoNotify = true
	first, err := s.room.Send(t.Context(), quiet)
	s.check(err)
	if first.MessageID != "m1" || first.State != journal.Delivered || !first.Created {
		t.Errorf("%+v", first)
	}
	other := draft("LD", "PMO", "m1")
	other.Message.Body = "other\n"
	if _, err := s.room.Send(t.Context(), other); errkind.Of(err) != errkind.Conflict {
		t.Errorf("another body: %v", err)
	}
	later := s.push("LD", "PMO", "m1")
	if !later.Created || later.State != journal.Queued || later.Path != first.Path || len(s.files()) != 1 {
		t.Errorf("%+v, files %v", later, s.files())
	}
	again, err := s.room.Send(t.Context(), quiet)
	s.check(err)
	if again.Created {
		t.Errorf("%+v", again)
	}
}

// killed leaves what a push leaves that dies after its intent, or after its
// file.
func (s *scene) killed(d Draft, published bool) {
	s.Helper()
	ctx := context.Background()
	d.Message = d.Message.Normalize()
	said := digest(d)
	s.check(s.room.Tree.Complete(ctx, &d.Draft))
	env, err := s.room.envelope(d, said)
	s.check(err)
	in, err := s.room.intend(ctx, env, d)
	s.check(err)
	if published {
		_, err = s.room.Tree.Publish(ctx, in.Draft)
		s.check(err)
	}
	in.Release()
}

func (s *scene) attachment() string {
	s.Helper()
	name := filepath.Join(s.lab.Dir(), "trace.txt")
	s.check(os.WriteFile(name, []byte("trace"), 0o600))
	return name
}

func TestRepairFinishesKilledPushes(t *testing.T) {
	s := set(t, "PMO")
	s.killed(draft("LD", "PMO", "m1"), false)
	s.killed(draft("LD", "PMO", "m2"), true)
	attached := draft("LD", "PMO", "m3") // its attachment is gone by now, its copy is there
	attached.AttachFiles = []string{s.attachment()}
	s.killed(attached, true)
	s.check(os.Remove(attached.AttachFiles[0]))
	tested := draft("LD", "PMO", "m4")
	tested.Test = true
	s.killed(tested, true)

	s.start()
	for _, id := range []string{"m1", "m2", "m3", "m4"} {
		s.reaches(id, journal.Delivered, "")
		if n := s.typed("PMO", id); n != 1 {
			t.Errorf("%s was typed %d times", id, n)
		}
	}
	if !s.get("m4").Test {
		t.Error("a killed test was finished as a real message")
	}
	eventually(t, "the outbox is empty", func() bool { return len(s.outbox()) == 0 })
	if n := len(s.files()); n != 4 {
		t.Errorf("%d files", n)
	}
}

// A push that can never be finished is dropped, once and with a word, and its id
// is free again.
func TestRepairDropsWhatCanNeverBeFinished(t *testing.T) {
	s := set(t, "PMO")
	lost := draft("LD", "PMO", "m1")
	lost.AttachFiles = []string{s.attachment()}
	s.killed(lost, false)
	s.check(os.Remove(lost.AttachFiles[0]))
	s.push("LD", "PMO", "m1") // meets the entry and is not held up by it
	s.killed(lost, false)
	s.start()
	eventually(t, "dropped", func() bool { return len(s.outbox()) == 0 })
	s.reaches("m1", journal.Delivered, "")
}

// An unreadable entry is said once, and the rest goes on.
func TestUnreadableOutboxIsSaidOnce(t *testing.T) {
	s := set(t, "PMO")
	s.killed(draft("LD", "PMO", "m1"), true)
	s.check(os.WriteFile(filepath.Join(string(s.home), "messaging", ".outbox", "bad.json"), []byte("{"), 0o600))
	s.start()
	s.reaches("m1", journal.Delivered, "")
	for _, id := range []string{"m2", "m3", "m4"} { // each changes the tree
		s.push("LD", "PMO", id)
		s.reaches(id, journal.Delivered, "")
		<-time.After(100 * time.Millisecond)
	}
	if n := s.log.count("bad.json"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// Interrupted after the file, a push is finished later; it is not forgotten.
func TestInterruptedPushIsFinishedLater(t *testing.T) {
	s := set(t)
	s.check(s.sql(`CREATE TRIGGER refuse BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'not now'); END`))
	if _, err := s.room.Send(t.Context(), draft("LD", "PMO", "m1")); err == nil {
		t.Fatal("accepted")
	}
	if len(s.files()) != 1 || len(s.outbox()) != 1 {
		t.Errorf("files %v, outbox %v", s.files(), s.outbox())
	}
	s.check(s.sql(`DROP TRIGGER refuse`))
	s.check(s.room.Repair(t.Context()))
	if rec := s.get("m1"); rec.State != journal.Queued || len(s.files()) != 1 {
		t.Errorf("%s, files %v", rec.State, s.files())
	}
}

// Only what would be refused again, and left nothing behind, is given up.
func TestWhatIsGivenUp(t *testing.T) {
	conflict := errkind.New(errkind.Conflict, "no")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"refused":          {conflict, true},
		"invalid":          {errkind.New(errkind.Invalid, "no"), true},
		"after the file":   {unfinished{conflict}, false},
		"unknown":          {errkind.New(errkind.Refused, "no").AsUnknown(), false},
		"not now":          {errkind.New(errkind.NotNow, "no"), false},
		"interrupted":      {context.Canceled, false},
		"none of our kind": {os.ErrPermission, false},
	} {
		if refused(c.err) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

func TestChatLineReachesSessionsOfAnyName(t *testing.T) {
	s := set(t)
	s.more = "allow: {PMO: [boss-claude]}\n"
	s.configure()
	room := s.open()
	chat := messaging.Chat{To: "PMO", From: "LD", ID: "m1"}
	for _, at := range []time.Time{time.Now(), time.Now().Add(time.Hour)} { // a repeat is a repeat
		env, err := room.ChatEnvelope(t.Context(), chat, at)
		s.check(err)
		got, err := room.SendEnvelopes(t.Context(), []messaging.Envelope{env}, false)
		s.check(err)
		s.check(got[0].Err)
	}
	if rec := s.get("m1"); Target(rec.Lane) != "boss-claude" {
		t.Errorf("it goes to %s", rec.Lane)
	}
}

// Doors that live in the daemon address by the settings in force.
func TestReloadReachesTheDoors(t *testing.T) {
	s := set(t)
	s.start()
	d := s.open()
	daemon, err := NewDaemon(d, Options{Load: nil})
	s.check(err)
	s.more = "aliases: {boss: PMO}\n"
	s.configure("LD", "PMO", "Ghost")
	file := s.open().Config
	s.check(daemon.use(file))
	s.push("LD", "PMO", "m1")
	items, err := d.Inbox(t.Context(), "boss")
	s.check(err)
	if len(items) != 1 {
		t.Errorf("%d items", len(items))
	}
}
