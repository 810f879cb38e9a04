package bootclock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since the machine started; on macOS CLOCK_MONOTONIC goes
// on while the machine sleeps.
func Now() time.Duration { return read(unix.CLOCK_MONOTONIC) }

// ID names this start of the machine.
func ID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return id, nil
}
