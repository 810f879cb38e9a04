package bootclock

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time since the machine started, sleep included.
func Now() time.Duration { return read(unix.CLOCK_BOOTTIME) }

// ID names this start of the machine.
func ID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
