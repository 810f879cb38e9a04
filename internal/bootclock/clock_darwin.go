package bootclock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since the machine started. On macOS this clock goes on
// while the machine sleeps, and unlike CLOCK_MONOTONIC it is not computed from
// the wall clock.
func Now() time.Duration { return read(unix.CLOCK_MONOTONIC_RAW) }

// ID names this start of the machine.
func ID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return id, nil
}
