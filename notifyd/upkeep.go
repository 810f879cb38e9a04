package notifyd

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"arkamsg/internal/errkind"
)

// Upkeep runs soon after the start, so that a daemon restarted every morning
// does it as well, and then once a day.
const (
	upkeepFirst = 5 * time.Minute
	upkeepEvery = 24 * time.Hour
)

// upkeep archives old history and proves the journal. Both go beside the
// deliveries: archiving writes in transactions small enough for them to pass
// between, proving only reads.
func (d *Daemon) upkeep(ctx context.Context) error {
	for wait := upkeepFirst; pause(ctx, wait); wait = upkeepEvery {
		d.archive(ctx)
		d.prove(ctx)
	}
	return nil
}

func (d *Daemon) archive(ctx context.Context) {
	age := d.settings.Load().file.Journal.ArchiveAfter
	n, err := d.room.Journal.Archive(ctx, time.Now().Add(-age))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		d.log.Error("old history was not archived", keyError, err)
	case n > 0:
		d.log.Info("old history archived", keyEvents, n)
	}
}

// prove verifies all of history and keeps the result where status finds it.
// Damage does not stop deliveries: what is in hand is sound, and a person has to
// decide.
func (d *Daemon) prove(ctx context.Context) {
	report, err := d.room.Journal.Verify(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = d.room.Journal.Keep(report)
	}
	if err != nil {
		d.log.Error("the journal was not proved", keyError, err)
	}
	if err := report.Err(); err != nil {
		d.log.Error("THE JOURNAL IS DAMAGED", keyError, err, keyFirst, report.Findings[0].Message, keyRemedy, errkind.Hint(err))
	}
}

// The service manager is told when there is one (NOTIFY_SOCKET); otherwise
// these calls do nothing, and an error would change nothing either.

func notifyReady() { _, _ = daemon.SdNotify(false, daemon.SdNotifyReady) }
func stopping()    { _, _ = daemon.SdNotify(false, daemon.SdNotifyStopping) }
func watchdog()    { _, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) }
