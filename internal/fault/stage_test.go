package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/lab"
	"arkamsg/internal/standin"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

// patience is how long anything that must happen may take, on a busy machine.
const patience = 90 * time.Second

// stage is one experiment: private tmux, scratch home, real processes.
type stage struct {
	testing.TB
	scenario string
	rng      *rand.Rand
	lab      *lab.Lab
	home     config.Home
	room     *notifyd.Mailroom
	panes    []string // roles with a stand-in
	sessions string   // as tmux listed them before
	sent     int
}

// allowed are the roles of arka.yaml. Those without a stand-in are absent.
var allowed = []string{"LD", "PMO", "Owner", "A", "B", "C", "D", patient, "Ghost"}

// patient is the role whose agent can be stopped. tmux wakes a child of its own
// that stops; this agent is a grandchild.
const patient = "Patient"

// session is the name that ARKA §10 composes.
func session(role string) string { return "arka-fault-" + role + "-codex" }

// newStage opens a pane for each of the roles. The home lies in the lab's
// folder, so that nothing outlives a killed test run.
func newStage(t testing.TB, scenario string, roles ...string) *stage {
	t.Helper()
	l, err := lab.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{TB: t, scenario: scenario, rng: seeded(scenario), lab: l, panes: roles,
		home: config.Home(filepath.Join(l.Dir(), "home"))}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("repeat with ARKA_SEED=%d", seed())
		}
	})
	for _, role := range roles {
		s.open(role)
	}
	s.sessions = s.tmux("list-sessions", "-F", "#{session_id} #{session_name} #{session_created} #{session_windows}")
	s.configure()
	return s
}

func (s *stage) open(role string) {
	s.Helper()
	codex, err := s.lab.Program("codex")
	argv := []string{codex, "standin", "--log", s.log(role)}
	if role == patient {
		argv = append([]string{codex, "nurse", s.pidFile()}, argv[1:]...)
	}
	if err == nil {
		err = s.lab.Open(lab.Pane{Session: session(role), Argv: argv})
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) log(role string) string { return filepath.Join(s.lab.Dir(), "log-"+role) }

func (s *stage) tmux(args ...string) string {
	s.Helper()
	out, err := s.lab.Tmux(args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// configure writes arka.yaml and opens the home in this process as well, for
// sending in volume and for the verdict.
func (s *stage) configure() {
	s.Helper()
	var y strings.Builder
	fmt.Fprintf(&y, "version: 1\nproject: fault\nprovider: codex\ntmux: {socket_path: %q}\nallow:\n", s.lab.Socket())
	for _, role := range allowed {
		fmt.Fprintf(&y, "  %s: [%s]\n", role, session(role))
	}
	y.WriteString("providers:\n  codex: {settle: 10ms}\n") // the stand-in needs none
	err := os.Mkdir(string(s.home), 0o700)
	if err == nil {
		err = os.WriteFile(s.home.Config(), []byte(y.String()), 0o600)
	}
	s.check(err)
	file, err := config.Load(s.home)
	s.check(err)
	s.room, err = notifyd.Open(s.Context(), s.home, file, notifyd.OpenOptions{})
	s.check(err)
	s.Cleanup(func() { s.check(s.room.Close()) })
}

func (s *stage) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// arkamsg starts a verb of the program on this home.
func (s *stage) arkamsg(env []string, args ...string) *proc {
	s.Helper()
	bin, err := program()
	s.check(err)
	return spawn(s, env, bin, append([]string{"--home", string(s.home)}, args...)...)
}

func (s *stage) daemon(env ...string) *proc { return s.arkamsg(env, "daemon") }

// shortLived is a daemon whose lease has the given length.
func (s *stage) shortLived(ttl time.Duration) *proc {
	self, err := os.Executable()
	s.check(err)
	return spawn(s, nil, self, "daemon", string(s.home), ttl.String())
}

// envelope is the next notification.
func (s *stage) envelope(from, to string) messaging.Envelope {
	s.sent++
	id := messaging.ID(fmt.Sprintf("m-%05d", s.sent))
	return messaging.Envelope{
		Type: "notify", V: 1, MessageID: id, TS: time.Now(), Project: "fault", ToAgent: to, Provider: "codex",
		SessionPrefix: "arka", Resource: messaging.Resource{Pointer: "ptr:msg:" + string(id)}, Sender: from,
	}
}

// send appends n notifications from LD to roles drawn at random, in one batch.
func (s *stage) send(n int, to ...string) {
	s.Helper()
	envs := make([]messaging.Envelope, n)
	for i := range envs {
		envs[i] = s.envelope("LD", to[s.rng.IntN(len(to))])
	}
	s.post(envs)
}

func (s *stage) post(envs []messaging.Envelope) {
	s.Helper()
	results, err := s.room.SendEnvelopes(context.Background(), envs, false)
	s.check(err)
	for _, r := range results {
		s.check(r.Err)
	}
}

// idle reports whether every event has its end and every push its event.
func (s *stage) idle() bool {
	sum, err := s.room.Journal.Summary(context.Background())
	s.check(err)
	return sum.Queued+sum.Dispatched == 0 && s.outbox() == 0
}

func (s *stage) outbox() int {
	left, err := filepath.Glob(filepath.Join(string(s.home), "messaging", ".outbox", "*.json"))
	s.check(err)
	return len(left)
}

// drained waits for idle while the daemon works.
func (s *stage) drained(d *proc) {
	s.Helper()
	if !eventually(patience+time.Duration(s.sent)*200*time.Millisecond, func() bool { return s.idle() || d.ended() }) || !s.idle() {
		s.Errorf("%s: there is work left (%d intents), %s", s.scenario, s.outbox(), s.left())
		s.Fatalf("the daemon said:\n%s", tail(d.said.String()))
	}
}

// left names what has no end.
func (s *stage) left() string {
	records, err := s.room.Journal.Events(context.Background(), journal.Filter{States: []journal.State{journal.Queued, journal.Dispatched}, Limit: 5})
	s.check(err)
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s %s %s %s; ", r.MessageID, r.Lane, r.State, r.Reason)
	}
	return b.String()
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// server is the process of the tmux server.
func (s *stage) server() int {
	s.Helper()
	n, err := strconv.Atoi(s.tmux("display-message", "-p", "#{pid}"))
	s.check(err)
	return n
}

func (s *stage) pidFile() string { return filepath.Join(s.lab.Dir(), "patient-pid") }

// nursed is the process of the patient's agent.
func (s *stage) nursed() (pid int) {
	s.Helper()
	if !eventually(patience, func() bool {
		text, err := os.ReadFile(s.pidFile())
		if err == nil {
			pid, err = strconv.Atoi(string(text))
		}
		return err == nil
	}) {
		s.Fatal("no patient")
	}
	return pid
}

// nurseMain runs this program once more with the arguments, in the same
// terminal, and writes down its process.
func nurseMain(pidFile string, args []string) int {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Start() != nil || os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600) != nil {
		return 1
	}
	_ = cmd.Wait() // whatever ends it ends the pane
	return 0
}

// stop stops a process for as long as the function runs.
func (s *stage) stop(pid int, during func()) {
	s.Helper()
	s.check(syscall.Kill(pid, syscall.SIGSTOP))
	defer func() { s.check(syscall.Kill(pid, syscall.SIGCONT)) }()
	during()
}

// someTime is a random wait up to d; it ends early when the process does.
func (s *stage) someTime(d time.Duration, p *proc) {
	select {
	case <-time.After(time.Duration(s.rng.Int64N(int64(d)))):
	case <-p.done:
	}
}

// records returns every event that is typed, in order.
func (s *stage) records() (all []journal.Record) {
	var after journal.EventID
	for {
		page, err := s.room.Journal.Events(context.Background(), journal.Filter{AfterID: after,
			Kinds: []journal.Kind{journal.KindNotify, journal.KindReturn, journal.KindEscalation}})
		s.check(err)
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].ID
	}
}

func (s *stage) entries(role string) []standin.Entry {
	entries, err := standin.ReadLog(s.log(role))
	s.check(err)
	return entries
}

// submitted is what a role's agent was given so far.
func (s *stage) submitted(role string) []string { return standin.Submitted(s.entries(role)) }

// verdict compares the witnesses, writes the scenario's row and fails the test
// for anything that is not as promised.
func (s *stage) verdict() verdict {
	s.Helper()
	var facts []fact
	for _, r := range s.records() {
		facts = append(facts, factOf(s, r))
	}
	record := map[string][]standin.Entry{}
	for _, role := range s.panes {
		record[session(role)] = s.entries(role)
	}
	v := judge(facts, record)
	results.add(s.scenario, v)
	for _, n := range v.notes {
		s.Error(s.scenario + ": " + n)
	}
	s.intact()
	return v
}

// intact demands what holds whatever happened.
func (s *stage) intact() {
	s.Helper()
	report, err := s.room.Journal.Verify(context.Background())
	s.check(err)
	if err := report.Err(); err != nil {
		s.Errorf("%s: %v: %v", s.scenario, err, report.Findings)
	}
	if now := s.tmux("list-sessions", "-F", "#{session_id} #{session_name} #{session_created} #{session_windows}"); now != s.sessions {
		s.Errorf("the sessions were\n%s\nand are\n%s", s.sessions, now)
	}
	if n := s.outbox(); n > 0 {
		s.Errorf("%d pushes were never finished", n)
	}
}

// certain is the verdict when nothing may be indeterminate.
func (s *stage) certain() {
	s.Helper()
	if v := s.verdict(); v.unsure > 0 {
		s.Errorf("%s: %d of %d are indeterminate", s.scenario, v.unsure, v.tries)
	}
}

// factOf writes down, from the contract and not from the program, what a pane
// must be given for the event.
func factOf(t testing.TB, r journal.Record) fact {
	t.Helper()
	var e struct {
		ToAgent  string `json:"to_agent"`
		Sender   string
		Resource struct{ Pointer string }
		Metadata struct{ Agent, Escalated string }
	}
	if err := json.Unmarshal(r.Body, &e); err != nil {
		t.Fatal(err)
	}
	f := fact{id: string(r.MessageID), pane: strings.TrimPrefix(string(r.Lane), "pane:"), state: r.State, reason: r.Reason}
	switch r.Kind {
	case journal.KindReturn:
		f.frame = fmt.Sprintf("NOTIFICATION: session %s non active — message non livré. Escalade : %s.\n%s",
			e.Metadata.Agent, e.Metadata.Escalated, e.Resource.Pointer)
	case journal.KindEscalation:
		f.frame = fmt.Sprintf("NOTIFICATION: [Escalade] @%s — session %s non active, message de @%s non livré : %s — [Message-READ]",
			e.ToAgent, e.Metadata.Agent, e.Sender, e.Resource.Pointer)
	default:
		f.frame = fmt.Sprintf("NOTIFICATION: [Notification-Auto] @%s — Message reçu de @%s : %s — [Message-READ]",
			e.ToAgent, e.Sender, e.Resource.Pointer)
	}
	f.frame += "\n\"\""
	return f
}
