package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"

	"golang.org/x/sys/unix"
)

func TestOneMessageFromAppendToDelivered(t *testing.T) {
	j, clock := openTest(t)
	ctx := t.Context()
	r := must(j.Append(ctx, note("m1", "lane")))
	if !r.Created || r.State != Queued || r.EventID != 1 {
		t.Fatalf("receipt %+v", r)
	}
	lanes, next, err := j.ReadyLanes(ctx, KindNotify)
	if err != nil || len(lanes) != 1 || lanes[0] != "lane" || !next.IsZero() {
		t.Fatalf("ready %v %v %v", lanes, next, err)
	}
	ticket := must(j.Claim(ctx, "lane", "h", time.Minute, 0))
	if ticket.Attempt != 1 || ticket.Fence != 1 || ticket.Event.MessageID != "m1" || ticket.Claim != 1 {
		t.Fatalf("ticket %+v", ticket)
	}
	if _, err := j.Claim(ctx, "lane", "other", time.Minute, 0); !errors.Is(err, ErrNoWork) {
		t.Fatalf("a second claim: %v", err)
	}
	check(t, j.Wait(ctx, ticket, ReasonAgentBusy))
	check(t, j.Retry(ctx, ticket, ReasonTmuxUnavailable, "no server", 5*time.Second))
	if _, next, _ := j.ReadyLanes(ctx); next.IsZero() {
		t.Fatal("a retry in 5 s comes due by itself")
	}
	clock.add(5 * time.Second)
	ticket = must(j.Claim(ctx, "lane", "h", time.Minute, 0))
	check(t, j.Deliver(ctx, ticket, Outcome{Detail: "proved", Result: []byte(`{}`)}))
	if err := j.Deliver(ctx, ticket, Outcome{}); !errors.Is(err, ErrStale) {
		t.Fatalf("delivered twice: %v", err)
	}
	rec := must(j.Get(ctx, "m1"))
	if rec.State != Delivered || rec.Attempts != 2 || len(rec.History) != 4 || string(rec.Result) != "{}" || rec.FinishedAt.IsZero() {
		t.Fatalf("record %+v", rec)
	}
	verifyClean(t, j)
}

func TestSameIDIsOneEvent(t *testing.T) {
	j, _ := openTest(t)
	first := must(j.Append(t.Context(), note("m1", "lane")))
	again := must(j.Append(t.Context(), note("m1", "lane")))
	if again.Created || again.EventID != first.EventID {
		t.Fatalf("repeat %+v", again)
	}
	other := note("m1", "lane")
	other.Body = []byte(`{"other":1}`)
	if _, err := j.Append(t.Context(), other); errkind.Of(err) != errkind.Conflict || errkind.Hint(err) == "" {
		t.Fatalf("another body: %v", err)
	}
	s := must(j.Summary(t.Context()))
	if s.Events != 1 || s.Counters[CounterDuplicates] != 1 {
		t.Fatalf("summary %+v", s)
	}
}

func TestBatchKeepsOrderAndRefusesByItself(t *testing.T) {
	j, _ := openTest(t)
	out := must(j.AppendAll(t.Context(), []NewEvent{note("a", "l"), note("bad id", "l"), note("b", "l"), note("a", "l")}))
	if out[0].Receipt.EventID != 1 || out[2].Receipt.EventID != 2 || out[3].Receipt.Created || errkind.Of(out[1].Err) != errkind.Invalid {
		t.Fatalf("%+v", out)
	}
}

func TestHistoryRefusesToChange(t *testing.T) {
	j, _ := openTest(t)
	must(j.Append(t.Context(), note("m1", "lane")))
	must(j.Claim(t.Context(), "lane", "h", time.Minute, 0))
	for _, s := range []string{
		`UPDATE event SET body = x'00'`, `DELETE FROM event`, `UPDATE transition SET at = 0`, `DELETE FROM transition`,
		`REPLACE INTO event SELECT id, 'x', kind, lane, body, counter, test, fact, created_at, hash FROM event`,
		`REPLACE INTO transition SELECT * FROM transition`,
	} {
		err := j.Update(t.Context(), func(tx *Tx) error {
			_, err := tx.SQL().Exec(s)
			return err
		})
		if err == nil {
			t.Errorf("%s was let through", s)
		}
	}
	verifyClean(t, j)
}

func TestDeadLettersComeBackUnderTheirID(t *testing.T) {
	j, _ := openTest(t)
	ctx := t.Context()
	must(j.Append(ctx, note("m1", "lane")))
	ticket := must(j.Claim(ctx, "lane", "h", time.Minute, 0))
	check(t, j.Fail(ctx, ticket, ReasonMissingSession, Outcome{Detail: "no such session", Evidence: "screen"}))
	dead := must(j.Dead(ctx, DeadFilter{Reason: ReasonMissingSession}))
	if len(dead) != 1 || dead[0].Evidence != "screen" || dead[0].Attempts != 1 {
		t.Fatalf("%+v", dead)
	}
	if r := must(j.RetryDead(ctx, "m1")); r.State != Queued {
		t.Fatalf("%+v", r)
	}
	ticket = must(j.Claim(ctx, "lane", "h", time.Minute, 0))
	if ticket.Fence != 2 || ticket.Attempt != 1 {
		t.Fatalf("the fence goes on, attempts start anew: %+v", ticket)
	}
	check(t, j.Fail(ctx, ticket, ReasonIndeterminate, Outcome{}))
	check(t, j.ClearDead(ctx, "m1", "seen by eye"))
	if err := j.ClearDead(ctx, "m1", "again"); errkind.Of(err) != errkind.Conflict {
		t.Fatalf("cleared twice: %v", err)
	}
	s := must(j.Summary(ctx))
	if s.Dead != 0 || s.Failed != 2 || s.Counters[CounterDead] != 2 || s.Counters[CounterBlockedMissing] != 1 {
		t.Fatalf("%+v", s)
	}
	verifyClean(t, j)
}

func TestOnlyOneLeads(t *testing.T) {
	j, clock := openTest(t)
	ctx := t.Context()
	a := must(j.Lead(ctx, Candidate{Host: "h", PID: 1, LockID: "1:1"}, time.Minute))
	_, err := j.Lead(ctx, Candidate{Host: "h", PID: 2, LockID: "1:2"}, time.Minute)
	if !errors.Is(err, ErrLed) || errkind.Of(err) != errkind.Conflict {
		t.Fatalf("two leaders: %v", err)
	}
	clock.wall = clock.wall.Add(time.Hour) // a step of the wall clock ends no lease
	if _, err := j.Lead(ctx, Candidate{Host: "h", PID: 2, LockID: "1:2"}, time.Minute); !errors.Is(err, ErrLed) {
		t.Fatalf("wall clock: %v", err)
	}
	must(j.Append(ctx, note("m1", "lane")))
	ticket := must(j.Claim(ctx, "lane", a.Holder, time.Minute, a.Term))
	b := must(j.Lead(ctx, Candidate{Host: "h", PID: 3, LockID: "1:1"}, time.Minute)) // same lock: the old one is dead
	if b.Term != a.Term+1 {
		t.Fatalf("term %d after %d", b.Term, a.Term)
	}
	for name, err := range map[string]error{
		"deliver": j.Deliver(ctx, ticket, Outcome{}), "retry": j.Retry(ctx, ticket, ReasonAgentBusy, "", 0),
		"fail": j.Fail(ctx, ticket, ReasonInvalid, Outcome{}), "wait": j.Wait(ctx, ticket, ReasonAgentBusy),
		"extend": j.Extend(ctx, ticket, time.Hour), "resign": j.Resign(ctx, a),
	} {
		if !errors.Is(err, ErrStale) {
			t.Errorf("the zombie's %s: %v", name, err)
		}
	}
	if _, err := j.Claim(ctx, "lane", a.Holder, time.Minute, a.Term); !errors.Is(err, ErrStale) {
		t.Errorf("the zombie's claim: %v", err)
	}
	if _, err := j.Renew(ctx, a, time.Minute); !errors.Is(err, ErrStale) {
		t.Errorf("the zombie's renewal: %v", err)
	}
	again := must(j.Claim(ctx, "lane", b.Holder, time.Minute, b.Term))
	if !again.Adopted || again.Attempt != 1 || again.Fence != 2 {
		t.Fatalf("adoption %+v", again)
	}
	check(t, j.Deliver(ctx, again, Outcome{}))
	b = must(j.Renew(ctx, b, time.Minute))
	check(t, j.Resign(ctx, b))
	must(j.Lead(ctx, Candidate{Host: "h", PID: 4, LockID: "1:9"}, time.Minute))
	verifyClean(t, j)
}

func TestTestEventsCountNothing(t *testing.T) {
	j, _ := openTest(t)
	ctx := t.Context()
	ne := note("probe", "lane")
	ne.Test, ne.Counter = true, CounterEscalatedPMO
	must(j.Append(ctx, ne))
	must(j.Append(ctx, ne))
	check(t, j.Fail(ctx, must(j.Claim(ctx, "lane", "h", time.Minute, 0)), ReasonMissingSession, Outcome{}))
	s := must(j.Summary(ctx))
	if s.Events != 0 || s.Failed != 0 || len(s.RecentFailures) != 0 {
		t.Fatalf("%+v", s)
	}
	for name, v := range s.Counters {
		if v != 0 {
			t.Errorf("%s = %d", name, v)
		}
	}
	verifyClean(t, j)
}

func TestRebuildGivesTheSameProjections(t *testing.T) {
	j, _ := openTest(t)
	ctx := t.Context()
	for i := range 12 {
		must(j.Append(ctx, note(fmt.Sprint("m", i), fmt.Sprint("lane", i))))
		ticket := must(j.Claim(ctx, Lane(fmt.Sprint("lane", i)), "h", time.Minute, 0))
		switch i % 4 {
		case 0:
			check(t, j.Deliver(ctx, ticket, Outcome{}))
		case 1:
			check(t, j.Fail(ctx, ticket, ReasonNotAllowed, Outcome{}))
		case 2:
			check(t, j.Retry(ctx, ticket, ReasonHumanDraft, "", 0))
		}
	}
	before := must(j.Summary(ctx))
	check(t, j.Update(ctx, func(tx *Tx) error {
		for _, s := range []string{`DELETE FROM work`, `DELETE FROM dead`, `UPDATE counter SET value = 99`} {
			if _, err := tx.SQL().Exec(s); err != nil {
				return err
			}
		}
		return nil
	}))
	if r := must(j.Verify(ctx)); r.OK() {
		t.Fatal("lying projections were not seen")
	}
	check(t, j.Rebuild(ctx))
	verifyClean(t, j)
	after := must(j.Summary(ctx))
	if after.Queued != before.Queued || after.Dispatched != before.Dispatched || after.Dead != before.Dead || after.Delivered != before.Delivered {
		t.Fatalf("before %+v\nafter  %+v", before, after)
	}
}

func TestArchivedEventsAreStillFoundAndUnique(t *testing.T) {
	j, clock := openTest(t)
	ctx := t.Context()
	for i := range 250 {
		must(j.Append(ctx, note(fmt.Sprint("m", i), "lane")))
		if i == 7 { // waits in a lane of its own through all of it
			must(j.Append(ctx, note("waits", "slow")))
		}
		check(t, j.Deliver(ctx, must(j.Claim(ctx, "lane", "h", time.Minute, 0)), Outcome{Detail: fmt.Sprint(i)}))
	}
	clock.add(40 * 24 * time.Hour)
	must(j.Append(ctx, note("young", "lane")))
	before := must(j.Summary(ctx))
	n, err := j.Archive(ctx, clock.Wall().Add(-30*24*time.Hour))
	if err != nil || n != 249 { // the last transition stays
		t.Fatalf("moved %d: %v", n, err)
	}
	rec := must(j.Get(ctx, "m3"))
	if rec.Archive == "" || rec.State != Delivered || len(rec.History) != 2 || rec.History[1].Detail != "3" {
		t.Fatalf("%+v", rec)
	}
	if r := must(j.Append(ctx, note("m3", "lane"))); r.Created || r.State != Delivered || r.EventID != rec.ID {
		t.Fatalf("repeat of an archived id: %+v", r)
	}
	other := note("m3", "lane")
	other.Body = []byte(`{"other":1}`)
	if _, err := j.Append(ctx, other); errkind.Of(err) != errkind.Conflict {
		t.Fatalf("an archived id with another body: %v", err)
	}
	after := must(j.Summary(ctx))
	if before.Events != after.Events || before.Delivered != after.Delivered {
		t.Fatalf("archiving changed the totals: %+v %+v", before, after)
	}
	verifyClean(t, j)
	check(t, j.Rebuild(ctx))
	verifyClean(t, j)
	check(t, j.Backup(ctx, t.TempDir()+"/copy.db"))
}

// TestBaselineIsWhatTheArchivesHold: what the journal remembers of rows that
// left is compared with those rows, and made anew from them.
func TestBaselineIsWhatTheArchivesHold(t *testing.T) {
	j, clock := openTest(t)
	ctx := t.Context()
	fillDelivered(t, j, 150)
	must(j.Append(ctx, note("blocked", "lane")))
	check(t, j.Fail(ctx, must(j.Claim(ctx, "lane", "h", time.Minute, 0)), ReasonMissingSession, Outcome{}))
	check(t, j.ClearDead(ctx, "blocked", "nobody is there"))
	clock.add(time.Hour)
	must(j.Append(ctx, note("young", "lane")))
	check(t, j.Deliver(ctx, must(j.Claim(ctx, "lane", "h", time.Minute, 0)), Outcome{}))
	before := must(j.Summary(ctx))
	if n := must(j.Archive(ctx, clock.Wall())); n != 151 {
		t.Fatalf("moved %d", n)
	}
	verifyClean(t, j)
	for _, lie := range []string{
		`UPDATE baseline SET value = value + 1 WHERE name = 'delivered'`,
		`DELETE FROM baseline WHERE name = '` + CounterBlockedMissing + `'`,
		`INSERT INTO baseline(name, value) VALUES('` + CounterRetries + `', 3)`,
	} {
		check(t, j.DB().Write(ctx, func(tx *sqlite.Tx) error { _, err := tx.Exec(lie); return err }))
		if r := must(j.Verify(ctx)); !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == "baseline_lies" }) {
			t.Fatalf("%s: %+v", lie, r)
		}
		check(t, j.Rebuild(ctx))
		verifyClean(t, j)
	}
	if after := must(j.Summary(ctx)); !maps.Equal(before.Counters, after.Counters) || before.Delivered != after.Delivered {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
}

// TestFailedCallersLeaveNoTraceInTheHead: one caller that appends and one that
// appends and fails share a transaction; the head must name the first one's row
// and not what the second one took back.
func TestFailedCallersLeaveNoTraceInTheHead(t *testing.T) {
	j, _ := openTest(t)
	for round := range 30 {
		var wg sync.WaitGroup
		entered, release := make(chan bool), make(chan bool)
		wg.Go(func() {
			check(t, j.DB().Write(context.Background(), func(*sqlite.Tx) error {
				close(entered)
				<-release
				return nil
			}))
		})
		<-entered
		queued := make(chan bool)
		for i, err := range []error{nil, errors.New("no")} {
			wg.Go(func() {
				queued <- true
				_ = j.Update(context.Background(), func(tx *Tx) error {
					_, fault := tx.Append(note(fmt.Sprint(round, "-", i), "lane"))
					return firstError(fault, err)
				})
			})
			<-queued
		}
		close(release)
		wg.Wait()
		check(t, j.quickCheck(t.Context(), must(j.head.read())))
	}
	verifyClean(t, j)
}

// A process that was stopped while it held the head holds up nobody: what it
// would write is a lower bound, and the next commit moves it just as well.
func TestAHeldHeadHoldsUpNobody(t *testing.T) {
	home := t.TempDir()
	j := openIn(t, home, SystemClock())
	must(j.Append(t.Context(), note("first", "lane")))
	before := must(j.head.read())

	f := must(os.OpenFile(filepath.Join(home, "journal.head"), os.O_RDWR, 0))
	check(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	must(j.Append(t.Context(), note("second", "lane")))
	if now := must(j.head.read()); now != before {
		t.Errorf("the head moved from %v to %v under a lock that is not ours", before, now)
	}
	check(t, f.Close())
	must(j.Append(t.Context(), note("third", "lane")))
	check(t, j.quickCheck(t.Context(), must(j.head.read())))
	if now := must(j.head.read()); now.event.seq != 3 {
		t.Errorf("the head stayed at %v", now)
	}
}
