package journal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"arkamsg/internal/errkind"
)

// machine drives one journal by random interleavings of two daemons (that take
// the lead from each other) and two agents with plain leases, with clock steps
// and reopening in between. What it knows by itself: which claim of an event was
// the last. Only that one may write.
type machine struct {
	j       *Journal
	home    string
	clock   *fakeClock
	leases  [2]Lease
	tickets []Ticket            // everything ever claimed, stale or not
	last    map[MessageID]Fence // the fence that counts
	open    map[MessageID]bool  // dispatched by last
	ended   map[MessageID]State // terminal writes that succeeded
	nextID  int
}

var ctx = context.Background()

func (m *machine) Append(t *rapid.T) {
	lane := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "lane")
	id := rapid.IntRange(0, m.nextID).Draw(t, "id") // now and then a repeat
	r, err := m.j.Append(ctx, NewEvent{MessageID: MessageID(fmt.Sprint("m", id)), Kind: KindNotify, Lane: Lane(lane), Body: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Created != (id == m.nextID) {
		t.Fatalf("m%d created=%v, next is %d", id, r.Created, m.nextID)
	}
	if r.Created {
		m.nextID++
	}
}

func (m *machine) Lead(t *rapid.T) {
	who := rapid.IntRange(0, 1).Draw(t, "daemon")
	lock := rapid.SampledFrom([]string{"own", "same"}).Draw(t, "lock")
	if lock == "own" {
		lock = fmt.Sprint(who)
	}
	l, err := m.j.Lead(ctx, Candidate{Host: "h", PID: who, LockID: lock}, 10*time.Second)
	if errors.Is(err, ErrLed) {
		return
	}
	if err != nil || l.Term <= max(m.leases[0].Term, m.leases[1].Term) {
		t.Fatalf("term %d: %v", l.Term, err)
	}
	m.leases[who] = l
}

func (m *machine) ClaimAsDaemon(t *rapid.T) {
	l := m.leases[rapid.IntRange(0, 1).Draw(t, "daemon")]
	if l.Term > 0 {
		m.claim(t, l.Holder, l.Term)
	}
}

func (m *machine) ClaimAsAgent(t *rapid.T) {
	m.claim(t, rapid.SampledFrom([]Holder{"x", "y"}).Draw(t, "agent"), 0)
}

func (m *machine) claim(t *rapid.T, h Holder, term Term) {
	lane := rapid.SampledFrom([]Lane{"a", "b"}).Draw(t, "lane")
	ticket, err := m.j.Claim(ctx, lane, h, 5*time.Second, term)
	if errors.Is(err, ErrNoWork) || errors.Is(err, ErrStale) {
		return
	}
	id := ticket.Event.MessageID
	if err != nil || ticket.Fence != m.last[id]+1 || m.ended[id] != "" {
		t.Fatalf("%s: fence %d after %d, ended %q: %v", id, ticket.Fence, m.last[id], m.ended[id], err)
	}
	if term > 0 && term < max(m.leases[0].Term, m.leases[1].Term) {
		t.Fatalf("a zombie of term %d claimed", term)
	}
	m.last[id], m.open[id] = ticket.Fence, true
	m.tickets = append(m.tickets, ticket)
}

func (m *machine) Finish(t *rapid.T) {
	if len(m.tickets) == 0 {
		return
	}
	ticket := rapid.SampledFrom(m.tickets).Draw(t, "ticket")
	how := rapid.SampledFrom([]string{"deliver", "fail", "retry", "extend", "wait"}).Draw(t, "how")
	m.expect(t, ticket, how, m.finish(ticket, how))
}

func (m *machine) finish(ticket Ticket, how string) error {
	switch how {
	case "deliver":
		return m.j.Deliver(ctx, ticket, Outcome{})
	case "fail":
		return m.j.Fail(ctx, ticket, ReasonInvalid, Outcome{})
	case "retry":
		return m.j.Retry(ctx, ticket, ReasonAgentBusy, "", time.Second)
	case "extend":
		return m.j.Extend(ctx, ticket, 5*time.Second)
	}
	return m.j.Wait(ctx, ticket, ReasonAgentBusy)
}

// expect: the write succeeds exactly when the ticket is the last claim, still
// open, and its term leads.
func (m *machine) expect(t *rapid.T, ticket Ticket, how string, err error) {
	id := ticket.Event.MessageID
	leads := ticket.Term == 0 || ticket.Term == max(m.leases[0].Term, m.leases[1].Term)
	may := m.open[id] && m.last[id] == ticket.Fence && leads
	if may && err != nil || !may && !errors.Is(err, ErrStale) {
		t.Fatalf("%s of %s fence %d term %d: may=%v, got %v", how, id, ticket.Fence, ticket.Term, may, err)
	}
	if !may {
		return
	}
	switch how {
	case "deliver":
		m.ended[id], m.open[id] = Delivered, false
	case "fail":
		m.ended[id], m.open[id] = Failed, false
	case "retry":
		m.open[id] = false
	}
}

func (m *machine) Revive(t *rapid.T) {
	id := MessageID(fmt.Sprint("m", rapid.IntRange(0, m.nextID).Draw(t, "id")))
	_, err := m.j.RetryDead(ctx, id)
	if (err == nil) != (m.ended[id] == Failed) {
		t.Fatalf("revive %s, which is %q: %v", id, m.ended[id], err)
	}
	if err == nil {
		delete(m.ended, id)
	} else if k := errkind.Of(err); k != errkind.Conflict && k != errkind.NotFound {
		t.Fatal(err)
	}
}

func (m *machine) Time(t *rapid.T) {
	m.clock.add(time.Duration(rapid.IntRange(0, 12).Draw(t, "seconds")) * time.Second)
}

func (m *machine) StepTheWallClock(t *rapid.T) {
	m.clock.mu.Lock()
	defer m.clock.mu.Unlock()
	m.clock.wall = m.clock.wall.Add(time.Duration(rapid.IntRange(-48, 48).Draw(t, "hours")) * time.Hour)
}

func (m *machine) Reopen(t *rapid.T) {
	if err := m.j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(ctx, m.home, Options{Clock: m.clock, Sync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	m.j = j
}

func (m *machine) Reboot(t *rapid.T) {
	m.clock.mu.Lock()
	m.clock.boot, m.clock.up = m.clock.boot+"+", time.Second
	m.clock.mu.Unlock()
	m.Reopen(t)
}

// Check runs after every step: history equals projection, and what ended well
// or badly is what the journal says.
func (m *machine) Check(t *rapid.T) {
	r, err := m.j.Verify(ctx)
	if err != nil || !r.OK() {
		t.Fatal(err, r.Err())
	}
	for id, state := range m.ended {
		rec, err := m.j.Get(ctx, id)
		if err != nil || rec.State != state {
			t.Fatalf("%s is %s, should be %s: %v", id, rec.State, state, err)
		}
	}
}

func TestAtMostOneHolderWrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{
			home: t.TempDir(), clock: newFakeClock(),
			last: map[MessageID]Fence{}, open: map[MessageID]bool{}, ended: map[MessageID]State{},
		}
		var err error
		if m.j, err = Open(ctx, m.home, Options{Clock: m.clock, Sync: "off"}); err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = m.j.Close() }()
		actions := rapid.StateMachineActions(m)
		rt.Repeat(actions)
	})
}
