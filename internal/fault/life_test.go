package fault

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/journal"
)

// What a kill leaves behind blocks nobody, and a second daemon is refused with
// the name of the first.
func TestOneDaemon(t *testing.T) {
	t.Parallel()
	s := newStage(t, "second daemon refused, kill -9, restart", "A")
	for range size(2, 20) {
		first := s.daemon()
		if !first.awaitReady(s) {
			s.Fatalf("a killed daemon blocks the next:\n%s", first.said.String())
		}
		second := s.daemon()
		s.ends(second, 4)
		if holder := fmt.Sprintf("pid %d", first.cmd.Process.Pid); !strings.Contains(second.said.String(), holder) {
			t.Errorf("the refusal does not name %s:\n%s", holder, second.said.String())
		}
		s.send(1, "A")
		s.drained(first)
		first.kill()
	}
	s.certain()
}

// A daemon killed while forking leaves a child that holds its lock until the
// child's exec. Here the test is that child.
func TestLockOfADyingDaemon(t *testing.T) {
	t.Parallel()
	s := newStage(t, "lock let go late", "A")
	held, err := os.OpenFile(s.home.Lock(), os.O_CREATE|os.O_RDWR, 0o600)
	s.check(err)
	s.check(syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	d := s.daemon()
	eventually(400*time.Millisecond, d.ended)
	s.check(held.Close())
	if !d.awaitReady(s) {
		t.Errorf("the start was refused:\n%s", d.said.String())
	}
}

// SIGTERM finishes the step in hand: afterwards nothing stands half typed in a
// pane, and all that was submitted is recorded.
func TestStoppedPolitely(t *testing.T) {
	t.Parallel()
	s := newStage(t, "SIGTERM in the middle", "A", "B")
	s.send(size(8, 100), s.panes...)
	for range size(4, 60) {
		d := s.daemon()
		d.awaitReady(s)
		s.someTime(200*time.Millisecond, d)
		d.signal(syscall.SIGTERM)
		s.ends(d, 0)
		s.nothingHalfDone()
	}
	d := s.daemon()
	s.drained(d)
	d.kill()
	s.certain()
}

func (s *stage) nothingHalfDone() {
	s.Helper()
	given := 0
	for _, role := range s.panes {
		pasted := 0
		for _, e := range s.entries(role) {
			if e.Kind == "paste" {
				pasted++
			}
		}
		n := len(s.submitted(role))
		if pasted != n {
			s.Errorf("%s: %d pasted, %d submitted after a polite stop", role, pasted, n)
		}
		given += n
	}
	sum, err := s.room.Journal.Summary(s.Context())
	s.check(err)
	if int(sum.Delivered) != given {
		s.Errorf("%d submitted, %d recorded after a polite stop", given, sum.Delivered)
	}
}

// A second signal does not wait for the step in hand.
func TestStoppedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t, "second SIGTERM, at once", patient)
	d := s.daemon()
	d.awaitReady(s)
	s.stop(s.nursed(), func() { // the step in hand waits for an echo
		s.send(1, patient)
		eventually(patience, func() bool { return s.event("m-00001").State == journal.Dispatched })
		d.signal(syscall.SIGTERM)
		d.signal(syscall.SIGTERM)
		eventually(50*time.Millisecond, d.ended)
		start := time.Now()
		d.signal(syscall.SIGTERM)
		if !d.endsWithin(patience) || time.Since(start) > time.Second {
			t.Errorf("the second signal took %v", time.Since(start))
		}
	})
	d = s.daemon()
	s.clearDraft(patient)
	s.drained(d)
	s.verdict()
}

// A daemon with nothing to do costs nothing (Linux tells how much).
func TestIdle(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil || !long() {
		return
	}
	s := newStage(t, "idle", "A", "B", "C")
	d := s.daemon()
	s.send(30, s.panes...)
	s.drained(d)
	eventually(2*time.Second, d.ended)
	const window = 20 * time.Second
	before := s.ticks(d)
	eventually(window, d.ended)
	share := float64(s.ticks(d)-before) / 100 / window.Seconds()
	t.Logf("| idle: %.3f %% of one core over %v, %d kB resident", 100*share, window, s.resident(d))
	if share > 0.001 {
		t.Errorf("an idle daemon takes %.3f %% of a core", 100*share)
	}
	if kb := s.resident(d); kb > 64<<10 && !raceEnabled {
		t.Errorf("an idle daemon holds %d kB", kb)
	}
	s.certain()
}

// ticks is the processor time of a process in hundredths of a second.
func (s *stage) ticks(p *proc) (sum int) {
	s.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	s.check(err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	for _, field := range strings.Fields(rest)[11:15] { // user, system, and of the children
		n, err := strconv.Atoi(field)
		s.check(err)
		sum += n
	}
	return sum
}

func (s *stage) resident(p *proc) int {
	s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	s.check(err)
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	s.check(err)
	return kb
}
