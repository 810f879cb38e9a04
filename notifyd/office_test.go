package notifyd

import (
	"context"
	"errors"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/bootclock"
	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
)

func shortLease(o *Options) { o.LeaseTTL = 600 * time.Millisecond }

func TestSecondDaemonIsRefusedAndToldWho(t *testing.T) {
	s := set(t)
	s.start()
	second := s.start()
	err := second.ends()
	if errkind.Of(err) != errkind.Conflict || !strings.Contains(err.Error(), "pid ") {
		t.Errorf("%v", err)
	}
}

func TestReplacedLockFileEndsTheOffice(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"deleted": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t)
			d := s.start(shortLease)
			s.check(replace(s.home.Lock()))
			if err := d.ends(); errkind.Of(err) != errkind.Conflict || !strings.Contains(err.Error(), "deleted or replaced") {
				t.Errorf("%v", err)
			}
		})
	}
}

// steal makes another daemon lead, as the rules allow once the lease is over.
func (s *scene) steal() {
	s.Helper()
	s.check(s.sql(`UPDATE leader SET live = 0`))
	boot, err := bootclock.ID()
	s.check(err)
	_, err = s.room.Journal.Lead(context.Background(), journal.Candidate{Host: "elsewhere", PID: 1, BootID: boot, LockID: "1:1"}, time.Minute)
	s.check(err)
}

func TestStolenLeaseEndsTheOfficeAndWritesNothing(t *testing.T) {
	s := set(t, "PMO")
	d := s.start() // its next renewal is seconds away: the refused claim must tell
	s.steal()
	s.push("LD", "PMO", "m1")
	if err := d.ends(); errkind.Of(err) != errkind.Conflict {
		t.Errorf("%v", err)
	}
	rec := s.get("m1")
	if rec.State != journal.Queued || len(rec.History) != 0 || s.typed("PMO", "m1") != 0 {
		t.Errorf("the zombie left %s %+v", rec.State, rec.History)
	}
	if lease, _, err := s.room.Journal.Leader(t.Context()); err != nil || lease.Host != "elsewhere" {
		t.Errorf("%s leads (%v)", lease.Host, err)
	}
}

// A step in hand when the office is lost types and records nothing more.
func TestLostOfficeStopsWhatIsInHand(t *testing.T) {
	s := set(t, "PMO")
	d := s.start(shortLease)
	s.shut("PMO")
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonPaneInMode)
	before := s.get("m1")
	s.steal()
	if err := d.ends(); errkind.Of(err) != errkind.Conflict {
		t.Errorf("%v", err)
	}
	s.reopen("PMO")
	if after := s.get("m1"); after.State != before.State || len(after.History) != len(before.History) || s.typed("PMO", "m1") != 0 {
		t.Errorf("%+v", after.History)
	}
}

// While the lease is not trusted nothing is claimed and nobody spins.
func TestUntrustedLeaseStartsNothing(t *testing.T) {
	s := set(t)
	d, err := NewDaemon(s.open(), Options{})
	s.check(err)
	d.office = &tenure{}
	s.push("LD", "PMO", "m1")
	next, err := d.startLanes(t.Context(), t.Context())
	s.check(err)
	if len(d.lanes) != 0 || time.Until(next) < afterError/2 {
		t.Errorf("%d lanes, next in %v", len(d.lanes), time.Until(next))
	}
}

// Trust ends before the lease does and counts from when a renewal was asked for.
func TestTrustEndsBeforeTheLease(t *testing.T) {
	o := &tenure{ttl: 3 * time.Second}
	now := bootclock.Now()
	o.trustFrom(now - 1900*time.Millisecond)
	if !o.holds() {
		t.Error("not trusted after 1.9 of 3 s")
	}
	o.trustFrom(now - 2*time.Second)
	if o.holds() {
		t.Error("trusted after 2 of 3 s")
	}
}

// The lease is kept while a step in hand is finished.
func TestLeaseIsKeptWhileStepsAreFinished(t *testing.T) {
	s := set(t)
	begun, end := make(chan struct{}), make(chan struct{})
	d := s.start(shortLease, func(o *Options) {
		o.Routes = map[journal.Kind]Route{journal.KindJob: func(_ context.Context, _ <-chan struct{}, t journal.Ticket) error {
			close(begun)
			<-end
			return s.room.Journal.Deliver(context.Background(), t, journal.Outcome{})
		}}
	})
	_, err := s.room.Journal.Append(t.Context(), journal.NewEvent{MessageID: "j1", Kind: journal.KindJob, Lane: "jobs", Body: []byte(`{}`)})
	s.check(err)
	<-begun
	d.stop()
	<-time.After(3 * d.opts.LeaseTTL)
	if _, live, err := s.room.Journal.Leader(t.Context()); err != nil || !live {
		t.Errorf("the lease is over (%v) while a step is in hand", err)
	}
	close(end)
	d.leave()
	s.reaches("j1", journal.Delivered, "")
	if _, live, _ := s.room.Journal.Leader(t.Context()); live {
		t.Error("not resigned")
	}
}

// A service that cannot start fails the start, and nothing stays alive.
func TestFailedStartLeavesNothingAlive(t *testing.T) {
	s := set(t)
	alive := make(chan struct{})
	d := s.start(func(o *Options) {
		o.Services = []Service{
			{Name: "first", Listen: func(context.Context) (func(context.Context) error, error) {
				return func(ctx context.Context) error { <-ctx.Done(); close(alive); return nil }, nil
			}},
			{Name: "second", Listen: func(context.Context) (func(context.Context) error, error) {
				return nil, errkind.New(errkind.Refused, "no")
			}},
		}
	})
	if err := d.ends(); errkind.Of(err) != errkind.Refused {
		t.Errorf("%v", err)
	}
	select {
	case <-alive:
	default:
		t.Error("the first service is alive")
	}
	s.start().leave() // lock and lease are free
}

func TestNothingIsAliveAfterRun(t *testing.T) {
	s := set(t, "PMO")
	d := s.start()
	s.shut("PMO")
	s.push("LD", "PMO", "m1")
	s.waits("m1", journal.ReasonPaneInMode)
	d.leave()
	if left := d.goroutines(); left != "" {
		t.Error(left)
	}
}

// goroutines are those that the daemon started; they bear its label. What the
// journal keeps ends with the room.
func (o *office) goroutines() string {
	var b strings.Builder
	o.s.check(pprof.Lookup("goroutine").WriteTo(&b, 1))
	for part := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(part, o.label) && !strings.Contains(part, "database/sql") {
			return part
		}
	}
	return ""
}

// Asked to stop while another machine's lease runs on, it stops without a word.
func TestStoppedWhileWaitingForTheLease(t *testing.T) {
	s := set(t)
	s.steal()
	d, err := NewDaemon(s.open(), Options{Logger: s.logger(), Load: func() (*config.File, error) { return config.Load(s.home) }})
	s.check(err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()
	eventually(t, "it waits", func() bool { return s.log.count("waiting for it to end") == 1 })
	stop()
	if err := <-done; err != nil {
		t.Errorf("%v", err)
	}
}

func TestReload(t *testing.T) {
	s := set(t, "LD", "PMO")
	s.start()
	s.push("LD", "Owner", "m1")
	s.reaches("m1", journal.Failed, journal.ReasonNotAllowed)

	s.check(os.WriteFile(s.home.Config(), []byte("version: 1\nnonsense: yes\n"), 0o600))
	eventually(t, "refused", func() bool { return s.log.count("arka.yaml refused") == 1 })
	s.push("LD", "PMO", "m2")
	s.reaches("m2", journal.Delivered, "") // the old settings stay

	s.configure("LD", "PMO", "Ghost", "Owner")
	eventually(t, "reloaded", func() bool { return s.log.count("arka.yaml reloaded") == 1 })
	s.push("LD", "Owner", "m3")
	s.reaches("m3", journal.Failed, journal.ReasonMissingSession)
}
