package journal

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bootID is "unknown" when the kernel does not tell: all boots are one then, and
// a lease of the boot before ends no later than it would have without the boot.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
