package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"arkamsg/internal/bootclock"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

// checkJournal opens the journal so that nothing in it can change. A home in
// which no daemon has ever run has none yet; one cause, one remedy.
func checkJournal(ctx context.Context, p *patient) Finding {
	room, err := notifyd.Open(ctx, p.home, p.file, notifyd.OpenOptions{ReadOnly: true})
	switch {
	case errkind.Of(err) == errkind.NotFound:
		return fail("arkamsg daemon", "there is no journal yet; the daemon makes it")
	case err != nil:
		return failure(err, "arkamsg journal verify")
	}
	p.onClose(room.Close)
	if err := room.Journal.Damage(); err != nil {
		return failure(err, "arkamsg journal verify")
	}
	sum, err := room.Journal.Summary(ctx)
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	p.room = room
	return ok("%s, %d events", room.Journal.ID(), sum.Events)
}

// provable is how many events are proved on the spot; beyond, only the last
// rows and the head were, when the journal was opened.
const provable = 100_000

func checkHistory(ctx context.Context, p *patient) Finding {
	last, err := p.newest(ctx)
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	if last.ID > provable {
		return p.provedBefore(last.ID)
	}
	report, err := p.room.Journal.Verify(ctx)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	return ok("%d events and %d transitions proved, projections equal history", report.Events, report.Transitions)
}

// provedBefore is what the last full verification found, of which the daemon
// makes one a day.
func (p *patient) provedBefore(events journal.EventID) Finding {
	proof, known, err := p.room.Journal.Proof()
	switch {
	case err != nil:
		return failure(err, "arkamsg journal verify")
	case !known:
		return ok("the last rows and the head are proved; all %d events: arkamsg journal verify", events)
	case !proof.OK():
		return fail(proof.Remedy, "%d findings at %s: %s", proof.Findings, proof.At.Format(time.RFC3339), proof.First)
	}
	return ok("the last rows and the head are proved; all of history was at %s", proof.At.Format(time.RFC3339))
}

// newest is the last event, or the zero record in an empty journal.
func (p *patient) newest(ctx context.Context) (journal.Record, error) {
	last, err := p.room.Journal.Events(ctx, journal.Filter{Newest: true, Limit: 1, IncludeTests: true})
	if err != nil || len(last) == 0 {
		return journal.Record{}, err
	}
	return last[0], nil
}

// walAlarm is the size at which a WAL is no longer normal (RELIABILITY 15).
const walAlarm = 16 << 20

// checkWAL asks for the size only: opening one of SQLite's files here would drop
// its locks.
func checkWAL(_ context.Context, p *patient) Finding {
	info, err := os.Lstat(p.home.Journal() + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok("no WAL")
	case err != nil:
		return fail("check the folder: ls -l "+string(p.home), "%v", err)
	case info.Size() > walAlarm:
		return warn("end what reads the journal for long (arkamsg events --follow, a backup), or restart the daemon",
			"%s has grown to %d MB, because a reader keeps it from being folded back", info.Name(), info.Size()>>20)
	}
	return ok("%d kB", info.Size()>>10)
}

const (
	// clockSlack is how far another process of this machine may seem ahead.
	clockSlack = 5 * time.Second
	// clockFloor: before it, no event of arkamsg was ever written.
	clockFloor = 2025
)

func checkClock(ctx context.Context, p *patient) Finding {
	remedy := "set the clock: timedatectl set-ntp true (macOS: sudo sntp -sS time.apple.com)"
	if _, err := bootclock.ID(); err != nil {
		return fail("report this system to the authors of arkamsg", "no boot clock, on which leases are kept: %v", err)
	}
	now := time.Now()
	if now.Year() < clockFloor {
		return fail(remedy, "the clock says %s", now.Format(time.DateOnly))
	}
	last, err := p.newest(ctx)
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	if ahead := last.CreatedAt.Sub(now); last.ID > 0 && ahead > clockSlack {
		return warn(remedy, "the last event is dated %v in the future: the clock was set back", ahead.Round(time.Second))
	}
	return ok("%s", now.UTC().Format(time.RFC3339))
}

func checkDeadLetters(ctx context.Context, p *patient) Finding {
	letters, err := p.room.Journal.Dead(ctx, journal.DeadFilter{})
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	n := 0
	for _, l := range letters {
		if !l.Test {
			n++
		}
	}
	if n > 0 {
		return warn("arkamsg dead list", "%d messages were not delivered and wait for a decision", n)
	}
	return ok("none")
}

// checkBacklog reads every message file. A folder that is not there yet is made
// by the first message.
func checkBacklog(ctx context.Context, p *patient) Finding {
	dir := p.home.Messaging(p.file)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return ok("nothing was written yet")
	}
	tree, err := messaging.Open(dir)
	if err != nil {
		return failure(err, "check messaging.root in arka.yaml")
	}
	defer tree.Close()
	files := 0
	var bad []string
	err = tree.Scan(ctx, func(e messaging.Entry) error {
		files++
		if len(e.Problems) > 0 {
			bad = append(bad, fmt.Sprintf("%s: %s", e.Path, e.Problems[0]))
		}
		return nil
	})
	if err != nil {
		return failure(err, "check the folder: ls -l "+dir)
	}
	if len(bad) > 0 {
		return warn("arkamsg threads", "%s", list(len(bad), func(i int) string { return bad[i] }))
	}
	return outbox(dir, files)
}

// stuckAfter is when an entry of the outbox is no longer a push under way, and a
// running daemon would have finished it.
const stuckAfter = time.Minute

// outbox looks for pushes that died and were not finished. It takes no locks: a
// push that lives must not meet ours.
func outbox(dir string, files int) Finding {
	entries, err := filepath.Glob(filepath.Join(dir, ".outbox", "*.json"))
	if err != nil {
		return fail("check the folder: ls -l "+dir, "%v", err)
	}
	stuck := 0
	for _, name := range entries {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > stuckAfter {
			stuck++
		}
	}
	if stuck > 0 {
		return warn("start the daemon, which finishes them: arkamsg daemon; its log names one that it cannot finish",
			"%d pushes were killed half way", stuck)
	}
	return ok("%d messages", files)
}
