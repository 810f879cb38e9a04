package journal

import (
	"time"

	"golang.org/x/sys/unix"
)

func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "unknown"
	}
	return id
}

// clockMonotonicRaw goes on during sleep on darwin (mach_continuous_time).
const clockMonotonicRaw = 4

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(clockMonotonicRaw, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
