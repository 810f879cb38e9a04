package fault

import (
	"fmt"
	"testing"
	"time"
)

// point is a label on the path of a delivery, and how often it is passed at most
// until the daemon is killed there. Two lanes pass it side by side, so a number
// below three could kill every daemon before it has done anything.
type point struct {
	label  string
	from   int // a daemon's first commit is its lease: killed there, it does nothing
	passes int
}

// points lie between any two durable steps of the daemon. The journal's are
// passed by the lease, the claim, the pin and the outcome alike.
var points = []point{
	{"journal:begun", 2, 7},
	{"journal:written", 2, 7},
	{"journal:before-commit", 2, 7},
	{"journal:committed", 2, 7},
	{"journal:head-written", 2, 7},
	{"notifyd:after-claim", 1, 4},
	{"notifyd:after-pin", 1, 4},
	{"sessions:before-paste", 1, 4},
	{"sessions:after-paste", 1, 4},
	{"sessions:before-submit", 1, 4},
	{"sessions:after-submit", 1, 4},
	{"sessions:after-prove", 1, 4},
	{"notifyd:after-record", 1, 4},
	{"notifyd:after-forget", 1, 4},
}

// The daemon is killed at every label, again and again, until all is delivered.
func TestKilledAtEveryLabel(t *testing.T) {
	t.Parallel()
	if long() {
		for _, p := range points {
			s := newStage(t, "SIGKILL at "+p.label, "A", "B")
			s.killAt(p, size(3, 100))
			s.certain()
		}
		return
	}
	s := newStage(t, fmt.Sprintf("SIGKILL at %d labels", len(points)), "A", "B")
	for _, p := range points {
		s.killAt(p, 2)
	}
	s.certain()
}

// killAt sends n messages and lets daemons die at the label until nothing is
// left to do. Each must die of its own hand or finish the work; at least one
// does die.
func (s *stage) killAt(p point, n int) {
	s.Helper()
	s.send(n, s.panes...)
	died := 0
	for tries := 0; !s.idle() || died == 0; tries++ {
		nth := p.from + s.rng.IntN(p.passes)
		if s.idle() {
			s.send(1, s.panes...)
			nth = p.from
		}
		if s.dies(p.label, nth) {
			died++
		}
		if tries > 20*n {
			s.Errorf("%s: no progress in %d starts: %s", p.label, tries, s.left())
			return
		}
	}
	s.Logf("%s: %d messages, %d kills", p.label, n, died)
}

// dies runs a daemon until it has killed itself, which is true, or there is
// nothing left to do.
func (s *stage) dies(label string, nth int) bool {
	s.Helper()
	d := s.daemon(arm(label, nth))
	if !eventually(patience, func() bool { return d.ended() || s.idle() }) {
		s.Fatalf("%s: neither dead nor done: %s\n%s", label, s.left(), tail(d.said.String()))
	}
	died := d.endsWithin(200 * time.Millisecond) // the last label lies behind the last commit
	if d.kill(); !d.killed() {
		s.Fatalf("%s: the daemon ended by itself (%v):\n%s", label, d.cmd.ProcessState, tail(d.said.String()))
	}
	return died
}

// The daemon is killed whenever it happens, while processes go on sending.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	s := newStage(t, "SIGKILL at random instants", "A", "B", "C")
	s.send(size(8, 500), s.panes...)
	for i := range size(6, 400) {
		push := s.pushOnce(fmt.Sprintf("p-%d", i))
		d := s.daemon()
		if s.rng.IntN(4) > 0 {
			d.awaitReady(s)
		}
		s.someTime(200*time.Millisecond, d)
		d.kill()
		if s.rng.IntN(2) == 0 && s.idle() {
			s.send(10, s.panes...)
		}
		s.ends(push, 0)
	}
	d := s.daemon()
	s.drained(d)
	d.kill()
	s.certain()
}

// pushOnce starts the real push of a message with this id.
func (s *stage) pushOnce(id string, env ...string) *proc {
	to := s.panes[len(id)*int(id[len(id)-1])%len(s.panes)] // the same for a repeat
	return s.arkamsg(env, "push", "--from", "LD", "--to", to, "--subject", id, "--message", "text of "+id, "--id", id)
}

// ends waits for a process and demands its exit code.
func (s *stage) ends(p *proc, code int) {
	s.Helper()
	if !p.endsWithin(patience) {
		s.Fatalf("%v does not end:\n%s", p.cmd.Args, tail(p.said.String()))
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		s.Errorf("%v: exit %d, want %d:\n%s", p.cmd.Args, got, code, tail(p.said.String()))
	}
}
