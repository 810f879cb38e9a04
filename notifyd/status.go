package notifyd

import (
	"context"
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
)

// A Status is the health of a home at a glance (ARKA §12). Its JSON is part of
// the contract.
type Status struct {
	Version  string           `json:"version"`
	Home     string           `json:"home"`
	DBPath   string           `json:"db_path"`
	Daemon   DaemonStatus     `json:"daemon"`
	Lag      LagStatus        `json:"lag"`
	Totals   TotalsStatus     `json:"totals"`
	Counters map[string]int64 `json:"counters"`
	Waiting  []WaitingStatus  `json:"waiting"`
	Failures []FailureStatus  `json:"recent_failures"`
	Proved   *ProvedStatus    `json:"proved,omitempty"` // the last full verification of the journal
	Damage   string           `json:"damage,omitempty"` // what is wrong with the journal
	Remedy   string           `json:"remedy,omitempty"` // against the damage
	Strained []StrainStatus   `json:"strained,omitempty"`
}

// StrainStatus is something that does not work as it should although nothing is
// lost yet; no degraded mode is silent (RELIABILITY 15).
type StrainStatus struct {
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// ProvedStatus is when all of history was last proved, and how much it was.
type ProvedStatus struct {
	At       Stamp `json:"at"`
	Events   int64 `json:"events"`
	Findings int   `json:"findings"`
}

// DaemonStatus says who delivers, if anybody. Running means that something
// answers on the home's socket; a daemon that runs with an expired lease hangs.
type DaemonStatus struct {
	Running        bool         `json:"running"`
	PID            int          `json:"pid,omitempty"`
	Host           string       `json:"host,omitempty"`
	StartedAt      *Stamp       `json:"started_at,omitempty"`
	Term           journal.Term `json:"term,omitempty"`
	LeaseExpiresAt *Stamp       `json:"lease_expires_at,omitempty"`
	LeaseExpired   bool         `json:"lease_expired,omitempty"`
}

// LagStatus is the work that has no end yet.
type LagStatus struct {
	Queued            int   `json:"queued"`
	Dispatched        int   `json:"dispatched"`
	OldestQueuedAgeMS int64 `json:"oldest_queued_age_ms"`
}

// TotalsStatus counts since the journal began.
type TotalsStatus struct {
	Events    int64 `json:"events"`
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
}

// WaitingStatus is a message at a closed gate.
type WaitingStatus struct {
	MessageID journal.MessageID `json:"message_id"`
	Target    string            `json:"target"`
	Reason    journal.Reason    `json:"reason"`
	Since     Stamp             `json:"since"`
}

// FailureStatus is one of the last dead letters.
type FailureStatus struct {
	MessageID journal.MessageID `json:"message_id"`
	Target    string            `json:"target"`
	Reason    journal.Reason    `json:"reason"`
	At        Stamp             `json:"at"`
}

// A Stamp is a time as every JSON of arkamsg shows it: RFC 3339, UTC,
// milliseconds.
type Stamp time.Time

// MarshalJSON renders the zero time as null.
func (s Stamp) MarshalJSON() ([]byte, error) {
	if time.Time(s).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + s.String() + `"`), nil
}

func (s Stamp) String() string {
	return time.Time(s).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Status looks at the home without changing anything. It does not ask the
// daemon and works while that is down, hung or being killed.
func (m *Mailroom) Status(ctx context.Context, version string) (Status, error) {
	sum, err := m.Journal.Summary(ctx)
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Version: version, Home: string(m.Home), DBPath: m.Home.Journal(),
		Lag:      LagStatus{Queued: sum.Queued, Dispatched: sum.Dispatched},
		Totals:   TotalsStatus{Events: sum.Events, Delivered: sum.Delivered, Failed: sum.Failed},
		Counters: sum.Counters, Waiting: []WaitingStatus{}, Failures: []FailureStatus{},
	}
	if !sum.OldestQueued.IsZero() {
		s.Lag.OldestQueuedAgeMS = max(0, time.Since(sum.OldestQueued).Milliseconds())
	}
	for _, w := range sum.Waiting {
		s.Waiting = append(s.Waiting, WaitingStatus{w.MessageID, Target(w.Lane), w.Reason, Stamp(w.Since)})
	}
	for _, f := range sum.RecentFailures {
		s.Failures = append(s.Failures, FailureStatus{f.MessageID, Target(f.Lane), f.Reason, Stamp(f.At)})
	}
	if err := m.soundness(&s); err != nil {
		return Status{}, err
	}
	s.Daemon, err = m.daemonStatus(ctx)
	return s, err
}

// soundness says what opening the journal and the last verification found, and
// what strains it now.
func (m *Mailroom) soundness(s *Status) error {
	proof, known, err := m.Journal.Proof()
	if err != nil {
		return err
	}
	if known {
		s.Proved = &ProvedStatus{Stamp(proof.At), proof.Events, proof.Findings}
		s.Damage, s.Remedy = proof.First, proof.Remedy
	}
	if err := m.Journal.Damage(); err != nil {
		s.Damage, s.Remedy = err.Error(), errkind.Hint(err)
	}
	for _, strain := range m.Journal.Strains() {
		s.Strained = append(s.Strained, StrainStatus(strain))
	}
	return nil
}

func (m *Mailroom) daemonStatus(ctx context.Context) (DaemonStatus, error) {
	d := DaemonStatus{Running: answers(ctx, m.Home)}
	lease, live, err := m.Journal.Leader(ctx)
	if err != nil || lease.Term == 0 {
		return d, err
	}
	started, expires := Stamp(lease.StartedAt), Stamp(lease.ExpiresAt)
	d.PID, d.Host, d.Term = lease.PID, lease.Host, lease.Term
	d.StartedAt, d.LeaseExpiresAt, d.LeaseExpired = &started, &expires, !live
	return d, nil
}

// answers reports whether a process listens on the home's socket. The kernel
// accepts for a hung daemon too, until so many have called that it says "again",
// and refuses for a dead one at once.
func answers(ctx context.Context, home config.Home) bool {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", home.Socket())
	if err != nil {
		return errors.Is(err, unix.EAGAIN) || ctx.Err() != nil
	}
	_ = conn.Close()
	return true
}
