package doctor

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/bootclock"
	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
	"arkamsg/internal/standin"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// diagnose runs the examination and demands that every finding which is not OK
// says what to do.
func diagnose(t *testing.T, o Options, checks []Check) map[Code]Result {
	t.Helper()
	r, err := examine(t.Context(), o, checks, false)
	must(t, err)
	by := map[Code]Result{}
	for _, c := range r.Checks {
		by[c.Code] = c
		if (c.State == Warn || c.State == Fail) != (c.Remedy != "") {
			t.Errorf("%s is %s with the remedy %q (%s)", c.Code, c.State, c.Remedy, c.Detail)
		}
	}
	return by
}

func inState(by map[Code]Result, s State) []Code {
	var codes []Code
	for _, code := range slices.Sorted(maps.Keys(by)) {
		if by[code].State == s {
			codes = append(codes, code)
		}
	}
	return codes
}

// dependants are the checks that a failure of these leaves unasked.
func dependants(failed []Code) []Code {
	down := slices.Clone(failed)
	var out []Code
	for _, c := range homeChecks { // what a check depends on stands before it
		if !slices.Contains(failed, c.Code) && slices.ContainsFunc(c.After, func(b Code) bool { return slices.Contains(down, b) }) {
			down, out = append(down, c.Code), append(out, c.Code)
		}
	}
	slices.Sort(out)
	return out
}

// Each way of breaking a home gives exactly its own code, and silence from what
// depends on it.
func TestEachBreakageHasItsCode(t *testing.T) {
	cases := map[string]struct {
		set        func(t *testing.T) (*house, Options)
		fail, warn []Code
		tells      string // in the detail of the first code
	}{
		"nothing": {set: hired(nothing)},
		"no home": {set: empty(func(h *house) { must(h.t, os.RemoveAll(string(h.home))) }),
			fail: []Code{"home"}, tells: "there is no folder"},
		"a home that others write": {set: empty(func(h *house) { must(h.t, os.Chmod(string(h.home), 0o777)) }),
			fail: []Code{"home"}, tells: "mode 0777"},
		"a file that others read": {set: hired(func(h *house) { must(h.t, os.Chmod(h.home.Journal(), 0o644)) }),
			warn: []Code{"home"}, tells: "journal.db"},
		"no configuration": {set: empty(func(h *house) { must(h.t, os.Remove(h.home.Config())) }),
			fail: []Code{"config"}, tells: "there is no arka.yaml"},
		"two faults in the configuration": {set: empty(badConfig), fail: []Code{"config"}, tells: "on_missing_session"},
		"an alias of nobody": {set: hired(func(h *house) {
			h.configure(func(in *config.Init) { in.Aliases["ld"] = "LD" })
		}), fail: []Code{"aliases"}, tells: "ld leads to LD"},
		"nobody to escalate to": {set: hired(func(h *house) {
			h.told = "Owner"
			h.configure(func(*config.Init) {})
		}), warn: []Code{"escalation"}, tells: "Owner has no session"},
		"no journal yet":          {set: empty(nothing), fail: []Code{"journal"}, tells: "no journal yet"},
		"garbage for a journal":   {set: empty(garbage), fail: []Code{"journal"}},
		"an older journal":        {set: empty(rolledBack), fail: []Code{"journal"}, tells: "acknowledged"},
		"a projection that lies":  {set: hired(lyingCounter), fail: []Code{"history"}, tells: "bogus_total"},
		"a clock that was set":    {set: hired(fromTheFuture), warn: []Code{"clock"}, tells: "in the future"},
		"a dead letter":           {set: hired(deadLetter), warn: []Code{"dead_letters"}, tells: "1 messages"},
		"a file that is no mail":  {set: hired(strayFile), warn: []Code{"backlog"}, tells: "stray"},
		"a push killed long ago":  {set: empty(halfPush), fail: []Code{"daemon"}, warn: []Code{"backlog"}},
		"a competence is gone":    {set: hired(lostCompetence), warn: []Code{"competences"}, tells: "in no folder"},
		"no daemon":               {set: empty(withJournal), fail: []Code{"daemon"}, tells: "messages are kept"},
		"a killed daemon":         {set: empty(killedDaemon), fail: []Code{"daemon"}, warn: []Code{"lease"}},
		"a daemon that hangs":     {set: empty(hungDaemon), fail: []Code{"lease"}, tells: "hangs"},
		"a daemon elsewhere":      {set: empty(foreignDaemon), fail: []Code{"lease"}, tells: "another machine"},
		"a replaced lock":         {set: empty(replacedLock), fail: []Code{"lease"}, tells: "deleted or replaced"},
		"a mute daemon":           {set: hired(func(h *house) { must(h.t, os.Remove(h.home.Socket())) }), fail: []Code{"daemon"}},
		"a tmux that is stopped":  {set: hired(stopTmux), fail: []Code{"tmux_server"}, tells: "did not answer"},
		"no tmux server":          {set: hired(serverGone), fail: []Code{"tmux_server"}, tells: "no tmux server"},
		"nobody is allowed":       {set: hired(nobodyAllowed), fail: []Code{"sessions"}, warn: []Code{"escalation"}, tells: "empty"},
		"the session is gone":     {set: hired(leaveOnly("other")), fail: []Code{"sessions"}, tells: "missing_session"},
		"a shell in the pane":     {set: hired(func(h *house) { h.tmux("respawn-pane", "-k", "-t", "="+pmo+":", "sh") }), fail: []Code{"sessions"}, tells: "wrong_program"},
		"one of two is gone":      {set: hired(oneOfTwo), warn: []Code{"sessions"}, tells: "missing_session"},
		"nobody is at the prompt": {set: hiredWith([]string{"--draft", "half a line"}, nothing), fail: []Code{"delivery"}, tells: "at this moment"},
		"a session not allowed": {set: func(t *testing.T) (*house, Options) {
			h, o := hired(nothing)(t)
			o.Session = "somebody-else"
			return h, o
		}, fail: []Code{"delivery"}, tells: "somebody-else"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, o := c.set(t)
			by := diagnose(t, o, homeChecks)
			if got := inState(by, Fail); !slices.Equal(got, c.fail) {
				t.Errorf("failed: %v, want %v: %+v", got, c.fail, by)
			}
			if got := inState(by, Warn); !slices.Equal(got, c.warn) {
				t.Errorf("warned: %v, want %v: %+v", got, c.warn, by)
			}
			if got, want := inState(by, Skipped), dependants(c.fail); !slices.Equal(got, want) {
				t.Errorf("skipped: %v, want %v", got, want)
			}
			if first := slices.Concat(c.fail, c.warn); len(first) > 0 && !strings.Contains(by[first[0]].Detail, c.tells) {
				t.Errorf("%s says %q, want %q in it", first[0], by[first[0]].Detail, c.tells)
			}
		})
	}
}

func nothing(*house) {}

// hired is a home with a daemon, hurt afterwards.
func hired(hurt func(*house)) func(*testing.T) (*house, Options) { return hiredWith(nil, hurt) }

func hiredWith(standinArgs []string, hurt func(*house)) func(*testing.T) (*house, Options) {
	return func(t *testing.T) (*house, Options) {
		h := newHouse(t, standinArgs...)
		h.hire()
		hurt(h)
		return h, h.options()
	}
}

// empty is a home in which no daemon runs.
func empty(hurt func(*house)) func(*testing.T) (*house, Options) {
	return func(t *testing.T) (*house, Options) {
		h := newHouse(t)
		hurt(h)
		return h, h.options()
	}
}

func (h *house) tmux(args ...string) {
	h.t.Helper()
	_, err := h.lab.Tmux(args...)
	must(h.t, err)
}

// serverGone returns when the server is: a client that comes while it is still
// leaving hears another story.
func serverGone(h *house) {
	h.tmux("kill-server")
	for end := time.Now().Add(10 * time.Second); ; {
		_, err := h.lab.Tmux("list-sessions")
		if err != nil && strings.Contains(err.Error(), "no server running") {
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("the server is still there: %v", err)
		}
	}
}

func badConfig(h *house) {
	must(h.t, os.WriteFile(h.home.Config(), []byte("version: 1\nsorry: yes\npolicy: {on_missing_session: create}\n"), 0o600))
}

func withJournal(h *house) { must(h.t, h.open().Close()) }

func garbage(h *house) {
	withJournal(h)
	must(h.t, os.WriteFile(h.home.Journal(), []byte(strings.Repeat("not a database ", 1000)), 0o600))
}

func appendFact(h *house, id journal.MessageID) {
	h.t.Helper()
	room := h.open()
	_, err := room.Journal.Append(context.Background(), journal.NewEvent{
		MessageID: id, Kind: journal.KindMessage, Lane: "x", Body: []byte(`{}`), Fact: true,
	})
	must(h.t, errors.Join(err, room.Close()))
}

func rolledBack(h *house) {
	appendFact(h, "first")
	old, err := os.ReadFile(h.home.Journal())
	must(h.t, err)
	appendFact(h, "second")
	must(h.t, os.WriteFile(h.home.Journal(), old, 0o600))
}

func lyingCounter(h *house) {
	room := h.open()
	err := room.Journal.DB().Write(context.Background(), func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO counter(name, value) VALUES('bogus_total', 5)`)
		return err
	})
	must(h.t, errors.Join(err, room.Close()))
}

// ahead is a clock an hour fast.
type ahead struct{ journal.Clock }

func (a ahead) Wall() time.Time { return a.Clock.Wall().Add(time.Hour) }

func fromTheFuture(h *house) {
	ctx := context.Background()
	j, err := journal.Open(ctx, string(h.home), journal.Options{Clock: ahead{journal.SystemClock()}})
	must(h.t, err)
	_, err = j.Append(ctx, journal.NewEvent{MessageID: "later", Kind: journal.KindMessage, Lane: "x", Body: []byte(`{}`), Fact: true})
	must(h.t, errors.Join(err, j.Close()))
}

// deadLetter is a message to nobody, with its return and escalation delivered
// to PMO.
func deadLetter(h *house) {
	ctx := context.Background()
	room := h.open()
	p := &patient{file: room.Config}
	env := p.envelope("dead", "nobody", "")
	env.Sender = "PMO"
	_, err := room.SendEnvelopes(ctx, []messaging.Envelope{env}, false)
	must(h.t, err)
	for _, id := range []journal.MessageID{journal.MessageID(env.MessageID), "return:" + journal.MessageID(env.MessageID), "escalation:" + journal.MessageID(env.MessageID)} {
		_, err = room.Await(ctx, id)
		must(h.t, err)
	}
	must(h.t, room.Close())
}

func strayFile(h *house) {
	dir := filepath.Join(string(h.home), "messaging", "msg", "20260601T182005Z—stray")
	must(h.t, os.MkdirAll(dir, 0o700))
	must(h.t, os.WriteFile(filepath.Join(dir, "TODO__LD@PMO__stray.yaml"), []byte("from: [\n"), 0o600))
}

func halfPush(h *house) {
	withJournal(h)
	name := filepath.Join(string(h.home), "messaging", ".outbox", "x.json")
	must(h.t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(h.t, os.WriteFile(name, []byte(`{}`), 0o600))
	must(h.t, os.Chtimes(name, time.Time{}, time.Now().Add(-time.Hour)))
}

// lead leaves a lease behind, as a daemon of the candidate would.
func (h *house) lead(c journal.Candidate, ttl time.Duration) {
	h.t.Helper()
	room := h.open()
	_, err := room.Journal.Lead(context.Background(), c, ttl)
	must(h.t, errors.Join(err, room.Close()))
}

// lock makes the lock file and returns its name in a lease.
func (h *house) lock() (f *os.File, id string) {
	h.t.Helper()
	f, err := os.OpenFile(h.home.Lock(), os.O_CREATE|os.O_RDWR, 0o600)
	must(h.t, err)
	h.t.Cleanup(func() { _ = f.Close() })
	_, id, err = probeLock(h.home.Lock())
	must(h.t, err)
	return f, id
}

func (h *house) candidate(lockID string) journal.Candidate {
	h.t.Helper()
	host, err := os.Hostname()
	must(h.t, err)
	boot, err := bootclock.ID()
	must(h.t, err)
	return journal.Candidate{Host: host, PID: 4711, BootID: boot, LockID: lockID}
}

func killedDaemon(h *house) {
	_, id := h.lock()
	h.lead(h.candidate(id), time.Hour)
}

func hungDaemon(h *house) {
	f, id := h.lock()
	must(h.t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	h.lead(h.candidate(id), time.Millisecond)
}

func foreignDaemon(h *house) {
	_, id := h.lock()
	c := h.candidate(id)
	c.Host, c.BootID = "elsewhere", "another-boot"
	h.lead(c, time.Hour)
}

func replacedLock(h *house) {
	f, _ := h.lock()
	must(h.t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	h.lead(h.candidate("1:2"), time.Hour)
}

func stopTmux(h *house) {
	pid, err := h.lab.Tmux("display-message", "-p", "#{pid}")
	must(h.t, err)
	n, err := strconv.Atoi(pid)
	must(h.t, err)
	must(h.t, syscall.Kill(n, syscall.SIGSTOP))
	h.t.Cleanup(func() { _ = syscall.Kill(n, syscall.SIGCONT) })
}

func nobodyAllowed(h *house) {
	h.configure(func(in *config.Init) { clear(in.Allow); clear(in.Aliases) })
}

func leaveOnly(session string) func(*house) {
	return func(h *house) {
		h.seat(session)
		h.tmux("kill-session", "-t", "="+pmo)
	}
}

func oneOfTwo(h *house) {
	h.configure(func(in *config.Init) { in.Allow["LD"] = []sessions.Name{"arka-local-LD-codex"} })
}

// The seed's promise in a real home: what the test did is in the history, and
// nowhere else.
func TestTheRealThingLeavesNoTrace(t *testing.T) {
	h, o := hired(nothing)(t)
	by := diagnose(t, o, homeChecks)
	if got := inState(by, OK); len(got) != len(homeChecks) {
		t.Fatalf("only %v are ok: %+v", got, by)
	}
	room := h.open()
	defer room.Close()
	sum, err := room.Journal.Summary(t.Context())
	must(t, err)
	for name, n := range sum.Counters {
		if n != 0 {
			t.Errorf("%s counted %d", name, n)
		}
	}
	letters, err := room.Journal.Dead(t.Context(), journal.DeadFilter{})
	must(t, err)
	tests, err := room.Journal.Events(t.Context(), journal.Filter{IncludeTests: true})
	must(t, err)
	if sum.Events != 0 || sum.Queued != 0 || len(letters) != 0 || len(tests) != 5 {
		t.Errorf("left: %+v, %d dead letters, %d test events instead of 5", sum, len(letters), len(tests))
	}
	entries, err := standin.ReadLog(filepath.Join(h.lab.Dir(), pmo+".jsonl"))
	must(t, err)
	if got := standin.Submitted(entries); len(got) != 1 {
		t.Errorf("typed: %q", got)
	}
}

// A message that the doctor no longer waits for must not surprise the agent
// later.
func TestPatienceEndsWithAWithdrawnMessage(t *testing.T) {
	h, o := hiredWith([]string{"--draft", "half a line"}, nothing)(t)
	o.Session = pmo
	by := diagnose(t, o, withLimit(codeDelivery, 2*time.Second))
	if by[codeDelivery].State != Fail || !strings.Contains(by[codeDelivery].Detail, string(journal.ReasonHumanDraft)) {
		t.Errorf("delivery: %+v", by[codeDelivery])
	}
	room := h.open()
	defer room.Close()
	sum, err := room.Journal.Summary(t.Context())
	must(t, err)
	if sum.Queued+sum.Dispatched != 0 {
		t.Errorf("still waiting: %+v", sum)
	}
	entries, err := standin.ReadLog(filepath.Join(h.lab.Dir(), pmo+".jsonl"))
	must(t, err)
	if got := standin.RawBytes(entries); len(got) != 0 {
		t.Errorf("typed: %q", got)
	}
}

// A daemon that holds everything and does nothing is found by its bell.
func TestADaemonThatDoesNothing(t *testing.T) {
	h := newHouse(t)
	f, id := h.lock()
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	h.lead(h.candidate(id), time.Hour)
	serve, err := h.answer()
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx) }()
	by := diagnose(t, h.options(), withLimit(codeBell, time.Second))
	stop()
	must(t, <-ended)
	if got := inState(by, Fail); !slices.Equal(got, []Code{codeBell}) {
		t.Errorf("failed: %v: %+v", got, by)
	}
}

func withLimit(code Code, limit time.Duration) []Check {
	checks := slices.Clone(homeChecks)
	for i := range checks {
		if checks[i].Code == code {
			checks[i].Limit = limit
		}
	}
	return checks
}

func TestWithoutTmux(t *testing.T) {
	h := newHouse(t)
	real, err := exec.LookPath("tmux")
	must(t, err)
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	withJournal(h)
	by := diagnose(t, h.options(), homeChecks)
	if got := inState(by, Fail); !slices.Equal(got, []Code{"daemon", "tmux"}) || !strings.Contains(by["tmux"].Remedy, "install tmux") {
		t.Errorf("without %s failed: %v: %+v", real, got, by["tmux"])
	}
	t.Setenv("PATH", path)
}

// What reaches the observer is every check, begun or skipped, and ended.
func TestInterruptedIsNoVerdict(t *testing.T) {
	h := newHouse(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := h.options()
	o.Observe = func(p Progress) {
		if p.Result != nil {
			cancel()
		}
	}
	if _, err := Home(ctx, o); errkind.Of(err) != errkind.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
}
