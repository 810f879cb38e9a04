package notifyd

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

// quiet opens a daemon that is not run, and a message that was delivered, all
// without tmux.
func quiet(t *testing.T) (*Daemon, *tape) {
	t.Helper()
	log := new(tape)
	room, err := Open(t.Context(), config.Home(t.TempDir()), config.Default(), OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := NewDaemon(room, Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return d, log
}

func delivered(t *testing.T, j *journal.Journal, id journal.MessageID) {
	t.Helper()
	_, err := j.Append(t.Context(), journal.NewEvent{MessageID: id, Kind: journal.KindNotify, Lane: "pane:x", Body: []byte(`{}`)})
	if err == nil {
		var ticket journal.Ticket
		if ticket, err = j.Claim(t.Context(), "pane:x", "h", time.Minute, 0); err == nil {
			err = j.Deliver(t.Context(), ticket, journal.Outcome{})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Forty days pass: what is older than archive_after (30 days) has moved by
// itself, is still found, and the journal was proved within the last day.
func TestUpkeepRunsEveryDayByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, log := quiet(t)
		delivered(t, d.room.Journal, "old")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- d.upkeep(ctx) }()
		<-time.After(25 * 24 * time.Hour)
		delivered(t, d.room.Journal, "young")
		<-time.After(15 * 24 * time.Hour)
		synctest.Wait()
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for id, archived := range map[journal.MessageID]bool{"old": true, "young": false} {
			if r, err := d.room.Journal.Get(t.Context(), id); err != nil || (r.Archive != "") != archived || r.State != journal.Delivered {
				t.Errorf("%s: %+v %v", id, r, err)
			}
		}
		s, err := d.room.Status(t.Context(), "")
		if err != nil || s.Proved == nil || time.Since(time.Time(s.Proved.At)) > upkeepEvery || s.Damage != "" {
			t.Errorf("%+v %v\n%s", s.Proved, err, log.text.String())
		}
	})
}

// Damage that opening the journal does not see is found by the daily proof, said
// loudly, and shown by every status from then on, until it is mended.
func TestDailyProofShowsDamage(t *testing.T) {
	d, log := quiet(t)
	for _, id := range []journal.MessageID{"a", "b", "c"} {
		delivered(t, d.room.Journal, id)
	}
	d.prove(t.Context())
	if log.count("DAMAGED") != 0 {
		t.Fatal(log.text.String())
	}
	err := d.room.Journal.DB().Write(t.Context(), func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`UPDATE counter SET value = 7 WHERE name = 'delivered'`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d.prove(t.Context())
	if log.count("level=ERROR") != 1 || log.count("DAMAGED") != 1 {
		t.Error(log.text.String())
	}
	s, err := d.room.Status(t.Context(), "")
	if err != nil || !strings.Contains(s.Damage, "delivered") || s.Remedy != "arkamsg journal rebuild" || s.Proved.Findings == 0 {
		t.Fatalf("%+v %v", s, err)
	}
	if err := d.room.Journal.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.prove(t.Context())
	if s, err := d.room.Status(t.Context(), ""); err != nil || s.Damage != "" {
		t.Errorf("%+v %v", s, err)
	}
}
