package sessions

import (
	"context"
	"time"

	"arkamsg/internal/errkind"
)

// pace is how long one call of Deliver watches the screen. The caller's own
// waiting, minutes or days, goes by calling again.
type pace struct {
	look  time.Duration // between two looks
	echo  time.Duration // for the pasted text to show
	blank time.Duration // before text that never showed is given up, over all calls
	proof time.Duration // for the proof to show
	retry time.Duration // before an Enter counts as swallowed, at least
}

var defaultPace = pace{look: 15 * time.Millisecond, echo: 2 * time.Second, blank: time.Minute, proof: 3 * time.Second, retry: 400 * time.Millisecond}

func (p pace) until(d time.Duration) time.Time { return time.Now().Add(d) }

// reenter is how long an Enter may take to show before it counts as swallowed.
func (p pace) reenter(of Profile) time.Duration { return max(p.retry, 2*of.Settle) }

// pause sleeps, or returns early when the caller stops.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return errkind.New(errkind.Interrupted, "delivery stopped; the pane's mark holds how far it came").Wrap(ctx.Err())
	case <-t.C:
		return nil
	}
}
