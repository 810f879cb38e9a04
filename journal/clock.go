package journal

import (
	"time"

	"arkamsg/internal/bootclock"
)

// Clock tells two times. Wall time is for people. Boot time decides: it counts
// from the start of the machine, goes on during sleep, and nobody can set it, so
// a step of the wall clock never ends or prolongs a lease (RELIABILITY 4).
type Clock interface {
	Wall() time.Time
	// Boot returns the id of this boot and the time since it began. Durations of
	// different boots cannot be compared.
	Boot() (id string, since time.Duration)
}

// SystemClock is the machine's own clock.
func SystemClock() Clock {
	boot, err := bootclock.ID()
	if err != nil {
		boot = unknownBoot
	}
	return systemClock{boot}
}

// unknownBoot stands for a kernel that does not name its boots: all are one
// then, and a lease of the boot before ends no later than it would have without
// the boot.
const unknownBoot = "unknown"

type systemClock struct{ boot string }

func (systemClock) Wall() time.Time { return time.Now() }

func (c systemClock) Boot() (string, time.Duration) { return c.boot, bootclock.Now() }
