package notifyd

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"arkamsg/internal/bootclock"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
)

// leaseTTL is the length of a lease unless [Options] say otherwise.
const leaseTTL = 15 * time.Second

// A tenure is one daemon's time in office: the lease with its term, renewed
// while the daemon lives and trusted only while a renewal is fresh.
type tenure struct {
	journal *journal.Journal
	lock    *lock
	log     *slog.Logger
	ttl     time.Duration
	term    journal.Term
	holder  journal.Holder
	lease   journal.Lease
	trusted atomic.Int64  // boot-clock nanoseconds
	doubts  chan struct{} // somebody was refused: renew now
}

func (t *tenure) renewEvery() time.Duration { return t.ttl / 3 }

// trustFrom ends our own trust in the lease before the lease itself ends,
// counted from the moment the renewal was attempted, not from its answer.
func (t *tenure) trustFrom(attempted time.Duration) {
	t.trusted.Store(int64(attempted + t.ttl - t.renewEvery()))
}

// takeOffice takes the lease. With the OS lock in hand, a lease left behind by
// a dead process of this machine and boot is taken at once; any other living
// lease is waited for until ctx ends.
func takeOffice(ctx context.Context, j *journal.Journal, l *lock, ttl time.Duration, log *slog.Logger) (*tenure, error) {
	me, err := candidate(l)
	if err != nil {
		return nil, err
	}
	t := &tenure{journal: j, lock: l, log: log, ttl: ttl, doubts: make(chan struct{}, 1)}
	for told := false; ; {
		started := bootclock.Now()
		t.lease, err = j.Lead(ctx, me, ttl)
		if err == nil {
			t.term, t.holder = t.lease.Term, t.lease.Holder
			t.trustFrom(started)
			return t, nil
		}
		if !errors.Is(err, journal.ErrLed) {
			return nil, err
		}
		if !told {
			log.Warn("another daemon's lease is still running; waiting for it to end", keyError, err)
			told = true
		}
		if !pause(ctx, time.Second) {
			return nil, err
		}
	}
}

func candidate(l *lock) (journal.Candidate, error) {
	id, err := l.id()
	if err != nil {
		return journal.Candidate{}, err
	}
	boot, err := bootclock.ID()
	if err != nil {
		return journal.Candidate{}, err
	}
	host, _ := os.Hostname() // shown to people only
	return journal.Candidate{Host: host, PID: os.Getpid(), BootID: boot, LockID: id}, nil
}

// keep renews until ctx ends; it returns the reason when the office is lost.
func (t *tenure) keep(ctx context.Context) error {
	tick := time.NewTicker(t.renewEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-t.doubts:
		}
		if err := t.renew(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		watchdog()
	}
}

// renew tries once. A stale lease, a replaced lock file or a replaced database
// end the office; anything else may pass, and costs us the trust if it does not.
func (t *tenure) renew(ctx context.Context) error {
	if err := t.lock.check(); err != nil {
		return err
	}
	if err := t.journal.CheckFiles(); err != nil {
		return t.rescue(ctx, err)
	}
	started := bootclock.Now()
	lease, err := t.journal.Renew(ctx, t.lease, t.ttl)
	switch {
	case err == nil:
		t.lease = lease
		t.trustFrom(started)
		return nil
	case errors.Is(err, journal.ErrStale) || !t.holds():
		return errkind.New(errkind.Conflict, "the lease of term %d is lost; another daemon may be running", t.term).
			Wrap(err).WithHint("arkamsg status")
	default:
		t.log.Warn("lease not renewed, trying again", keyError, err)
		return nil
	}
}

// rescue saves what the open journal still holds after its files were taken
// away: once this process has ended nobody can reach them any more.
func (t *tenure) rescue(ctx context.Context, lost error) error {
	saved, err := t.journal.Rescue(context.WithoutCancel(ctx))
	if err != nil {
		t.log.Error("what the journal held could not be saved", keyError, err)
		return lost
	}
	return errkind.New(errkind.Damaged, "%v; what it held is saved in %s", lost, saved).
		WithHint("stop every arkamsg of this home, remove journal.db, journal.db-wal and journal.db-shm, rename %s to journal.db, then: arkamsg journal verify",
			filepath.Base(saved))
}

// doubt has the lease renewed at once, because a statement that names its term
// was refused: either the office is lost, and that ends it now, or it was only
// the statement's own ticket.
func (t *tenure) doubt() {
	select {
	case t.doubts <- struct{}{}:
	default:
	}
}

// holds reports whether our own trust in the lease has not run out. It is asked
// before every step that reaches a terminal.
func (t *tenure) holds() bool { return int64(bootclock.Now()) < t.trusted.Load() }

// resign lets the next daemon start at once. It uses a context of its own: the
// one of the daemon is over when this is called.
func (t *tenure) resign() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := t.journal.Resign(ctx, t.lease); err != nil && !errors.Is(err, journal.ErrStale) {
		t.log.Warn("lease not resigned; the next start takes it by the lock", keyError, err)
	}
}

// pause waits and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
