package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"arkamsg/internal/errkind"
)

// Candidate is a daemon that wants to lead. It holds the OS lock already.
type Candidate struct {
	Host   string
	PID    int    // for people; never used to decide (RELIABILITY 4)
	BootID string // of the clock; "" takes the journal's own
	LockID string // names the lock file (device and inode): its flock is in our hand
}

// Lease is a leadership for a time.
type Lease struct {
	Term      Term
	Holder    Holder
	Host      string
	PID       int
	BootID    string
	LockID    string
	StartedAt time.Time     // wall, for people
	ExpiresAt time.Time     // wall, for people
	Deadline  time.Duration // boot clock of BootID; this one decides
}

// Left is for how long the lease can still be trusted; 0 or less: not at all.
// It counts from the moment at which it was asked for.
func (j *Journal) Left(l Lease) time.Duration {
	boot, now := j.clock.Boot()
	if boot != l.BootID {
		return 0
	}
	return l.Deadline - now
}

// Lead takes the leadership with a new term. ErrLed, naming the holder, while
// another lease lives. A lease of this boot under the same lock is dead by
// construction (we hold its lock) and taken at once; so is one of an earlier
// boot of this host.
func (j *Journal) Lead(ctx context.Context, c Candidate, ttl time.Duration) (l Lease, err error) {
	want := j.leaseFrom(c, ttl)
	err = j.Update(ctx, func(tx *Tx) error {
		l, err = tx.lead(want)
		return err
	})
	return l, err
}

// leaseFrom starts counting now, before anything is asked of the database.
func (j *Journal) leaseFrom(c Candidate, ttl time.Duration) Lease {
	boot, now := j.clock.Boot()
	if c.BootID != "" {
		boot = c.BootID
	}
	wall := j.clock.Wall()
	return Lease{
		Holder: Holder(fmt.Sprintf("daemon@%s/%d", c.Host, c.PID)), Host: c.Host, PID: c.PID, BootID: boot,
		LockID: c.LockID, StartedAt: wall, ExpiresAt: wall.Add(ttl), Deadline: now + ttl,
	}
}

// takeLead replaces a lease that is over: resigned, run out on this boot's
// clock, of an earlier boot of this host, or (another host, whose clock tells
// us nothing) run out on the wall.
const takeLead = `INSERT INTO leader(one, term, live, holder, host, pid, boot, lock_id, started_at, expires_at, deadline)
	VALUES(1, 1, 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
	ON CONFLICT(one) DO UPDATE SET term = term + 1, live = 1, holder = ?1, host = ?2, pid = ?3, boot = ?4,
		lock_id = ?5, started_at = ?6, expires_at = ?7, deadline = ?8
	WHERE live = 0
		OR boot = ?4 AND (deadline <= ?9 OR lock_id = ?5 AND lock_id <> '')
		OR boot <> ?4 AND (host = ?2 OR expires_at <= ?6)
	RETURNING term`

func (tx *Tx) lead(l Lease) (Lease, error) {
	_, now := tx.j.clock.Boot()
	err := tx.sql.QueryRow(takeLead, l.Holder, l.Host, l.PID, l.BootID, l.LockID,
		l.StartedAt.UnixMilli(), l.ExpiresAt.UnixMilli(), l.Deadline, now).Scan(&l.Term)
	if errors.Is(err, sql.ErrNoRows) {
		return Lease{}, tx.led()
	}
	return l, err
}

func (tx *Tx) led() error {
	cur, _, err := tx.leader()
	if err != nil {
		return err
	}
	return errkind.New(errkind.Conflict, "%s leads (term %d, until %s)", cur.Holder, cur.Term, cur.ExpiresAt.UTC().Format(time.RFC3339)).
		WithHint("stop it, or wait until its lease ends; see it: arkamsg status").Wrap(ErrLed)
}

// Renew prolongs the lease to ttl from now. ErrStale: another term leads.
func (j *Journal) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	next := j.leaseFrom(Candidate{Host: l.Host, PID: l.PID, LockID: l.LockID}, ttl)
	next.Term, next.Holder, next.StartedAt = l.Term, l.Holder, l.StartedAt
	err := j.Update(ctx, func(tx *Tx) error {
		return tx.one(`UPDATE leader SET expires_at = ?, deadline = ? WHERE term = ? AND live = 1 AND holder = ? AND boot = ?`,
			next.ExpiresAt.UnixMilli(), next.Deadline, l.Term, l.Holder, l.BootID)
	})
	if err != nil {
		return l, err
	}
	next.BootID = l.BootID
	return next, nil
}

// Resign ends the lease; work in hand keeps its leases and is adopted by the
// next leader. ErrStale: it was over already.
func (j *Journal) Resign(ctx context.Context, l Lease) error {
	return j.Update(ctx, func(tx *Tx) error {
		return tx.one(`UPDATE leader SET live = 0 WHERE term = ? AND live = 1`, l.Term)
	})
}

// Leader returns the last lease and whether it still lives by its deadline.
func (j *Journal) Leader(ctx context.Context) (l Lease, live bool, err error) {
	err = j.view(ctx, func(tx *Tx) error {
		l, live, err = tx.leader()
		return err
	})
	return l, live && j.Left(l) > 0, err
}

func (tx *Tx) leader() (l Lease, live bool, err error) {
	var started, expires int64
	err = tx.sql.QueryRow(`SELECT term, live, holder, host, pid, boot, lock_id, started_at, expires_at, deadline FROM leader`).
		Scan(&l.Term, &live, &l.Holder, &l.Host, &l.PID, &l.BootID, &l.LockID, &started, &expires, &l.Deadline)
	if errors.Is(err, sql.ErrNoRows) {
		return Lease{}, false, nil
	}
	l.StartedAt, l.ExpiresAt = time.UnixMilli(started), time.UnixMilli(expires)
	return l, live, err
}
