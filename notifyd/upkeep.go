package notifyd

import (
	"context"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// upkeepEvery is how often old history moves to its archive.
const upkeepEvery = 24 * time.Hour

// upkeep archives old history once a day, in transactions small enough for
// deliveries to pass between them. The first turn comes soon after the start,
// so that a daemon restarted every morning archives as well.
func (d *Daemon) upkeep(ctx context.Context) error {
	for wait := 5 * time.Minute; pause(ctx, wait); wait = upkeepEvery {
		age := d.settings.Load().file.Journal.ArchiveAfter
		n, err := d.room.Journal.Archive(ctx, time.Now().Add(-age))
		switch {
		case ctx.Err() != nil:
		case err != nil:
			d.log.Error("old history was not archived", "error", err)
		case n > 0:
			d.log.Info("old history archived", "events", n)
		}
	}
	return nil
}

// The service manager is told when there is one (NOTIFY_SOCKET); otherwise
// these calls do nothing, and an error would change nothing either.

func notifyReady() { _, _ = daemon.SdNotify(false, daemon.SdNotifyReady) }
func stopping()    { _, _ = daemon.SdNotify(false, daemon.SdNotifyStopping) }
func watchdog()    { _, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog) }
