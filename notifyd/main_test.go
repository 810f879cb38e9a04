package notifyd

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/lab"
	"arkamsg/internal/standin"
	"arkamsg/journal"
	"arkamsg/messaging"
)

// TestMain lets the test binary play the agent in a pane.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "standin" {
		os.Exit(standin.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "6") // they wait for screens more than for the processor
	os.Exit(m.Run())
}

// patience bounds what must happen, on a busy machine.
const patience = 20 * time.Second

func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// scene is a private tmux server and a home.
type scene struct {
	testing.TB
	lab  *lab.Lab
	home config.Home
	room *Mailroom // the senders'
	log  *tape
	more string // appended to arka.yaml
}

// tape keeps what the daemons log.
type tape struct {
	sync.Mutex
	text strings.Builder
}

func (t *tape) Write(b []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	return t.text.Write(b)
}

func (t *tape) count(word string) int {
	t.Lock()
	defer t.Unlock()
	return strings.Count(t.text.String(), word)
}

func session(role string) string { return "arka-t-" + role + "-codex" }

// set opens a scene with an agent for each role; LD, PMO and Ghost are allowed.
func set(t *testing.T, roles ...string) *scene {
	t.Helper()
	t.Parallel()
	l, err := lab.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &scene{TB: t, lab: l, home: config.Home(filepath.Join(l.Dir(), "home")), log: &tape{}}
	s.check(os.Mkdir(string(s.home), 0o700))
	for _, role := range roles {
		s.agent(session(role))
	}
	s.configure("LD", "PMO", "Ghost")
	s.room = s.open()
	return s
}

func (s *scene) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) agent(name string) {
	s.Helper()
	codex, err := s.lab.Program("codex")
	s.check(err)
	s.check(s.lab.Open(lab.Pane{Session: name, Argv: []string{codex, "standin", "--log", s.logOf(name)}}))
}

func (s *scene) logOf(name string) string { return filepath.Join(s.lab.Dir(), "log-"+name) }

func (s *scene) tmux(args ...string) string {
	s.Helper()
	out, err := s.lab.Tmux(args...)
	s.check(err)
	return out
}

// configure writes arka.yaml with these roles allowed.
func (s *scene) configure(roles ...string) {
	s.Helper()
	var y strings.Builder
	fmt.Fprintf(&y, "version: 1\nproject: t\nprovider: codex\ntmux: {socket_path: %q}\n", s.lab.Socket())
	if len(roles) > 0 {
		y.WriteString("allow:\n")
	}
	for _, role := range roles {
		fmt.Fprintf(&y, "  %s: [%s]\n", role, session(role))
	}
	fmt.Fprintf(&y, "providers:\n  codex: {settle: 10ms}\n%s", s.more)
	s.check(os.WriteFile(s.home.Config(), []byte(y.String()), 0o600))
}

func (s *scene) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// open opens the home, as one more process would.
func (s *scene) open() *Mailroom {
	s.Helper()
	file, err := config.Load(s.home)
	s.check(err)
	room, err := Open(context.Background(), s.home, file, OpenOptions{Logger: s.logger()})
	s.check(err)
	s.Cleanup(func() { s.check(room.Close()) })
	return room
}

// office is a daemon at work.
type office struct {
	*Daemon
	s    *scene
	stop context.CancelFunc
	done chan struct{}
	err  error

	label string // of every goroutine that it starts
}

// start runs a daemon on a room of its own until the test ends.
func (s *scene) start(change ...func(*Options)) *office {
	s.Helper()
	opts := Options{Logger: s.logger(), Load: func() (*config.File, error) { return config.Load(s.home) }}
	ready := make(chan struct{})
	opts.Ready = func() { close(ready) }
	for _, c := range change {
		c(&opts)
	}
	d, err := NewDaemon(s.open(), opts)
	s.check(err)
	ctx, stop := context.WithCancel(context.Background())
	o := &office{Daemon: d, s: s, stop: stop, done: make(chan struct{}), label: rand.Text()}
	go func() {
		defer close(o.done)
		pprof.Do(ctx, pprof.Labels("daemon", o.label), func(ctx context.Context) { o.err = d.Run(ctx) })
	}()
	s.Cleanup(func() { stop(); <-o.done })
	select {
	case <-ready:
	case <-o.done:
	case <-time.After(patience):
		s.Fatal("the daemon is neither ready nor dead")
	}
	return o
}

// leave stops the daemon politely.
func (o *office) leave() {
	o.s.Helper()
	o.stop()
	<-o.done
	o.s.check(o.err)
}

// ends waits until the daemon has ended by itself and returns why.
func (o *office) ends() error {
	o.s.Helper()
	select {
	case <-o.done:
		return o.err
	case <-time.After(patience):
		o.s.Fatal("the daemon goes on")
		return nil
	}
}

// push sends a message and returns its receipt.
func (s *scene) push(from, to, id string) Receipt {
	s.Helper()
	r, err := s.room.Send(context.Background(), draft(from, to, id))
	s.check(err)
	return r
}

func draft(from, to, id string) Draft {
	return Draft{Draft: messaging.Draft{Message: messaging.Message{
		From: messaging.Role(from), To: messaging.Role(to), MessageID: messaging.ID(id),
		Type: messaging.TypeStatus, Subject: "subject " + id, Body: "body\n",
	}}}
}

func (s *scene) get(id string) journal.Record {
	s.Helper()
	rec, err := s.room.Journal.Get(context.Background(), journal.MessageID(id))
	if errors.Is(err, journal.ErrNotFound) {
		return journal.Record{}
	}
	s.check(err)
	return rec
}

// reaches waits for a state and reason.
func (s *scene) reaches(id string, state journal.State, reason journal.Reason) journal.Record {
	s.Helper()
	var rec journal.Record
	defer func() {
		if s.Failed() {
			s.Logf("%s is %s (%s) %+v", id, rec.State, rec.Reason, rec.History)
		}
	}()
	eventually(s, fmt.Sprintf("%s %s (%s)", id, state, reason), func() bool {
		rec = s.get(id)
		return rec.State == state && rec.Reason == reason
	})
	return rec
}

// typed counts how often a message was submitted to the session's agent.
func (s *scene) typed(role, id string) (n int) {
	s.Helper()
	entries, err := standin.ReadLog(s.logOf(session(role)))
	if errors.Is(err, os.ErrNotExist) {
		return 0 // it is starting
	}
	s.check(err)
	for _, text := range standin.Submitted(entries) {
		n += strings.Count(text, "ptr:msg:"+id)
	}
	return n
}

// count is a counter of the journal.
func (s *scene) count(name string) int64 {
	s.Helper()
	sum, err := s.room.Journal.Summary(context.Background())
	s.check(err)
	return sum.Counters[name]
}

// freeze stops the tmux server until the scene ends; thaw lets it go on.
func (s *scene) freeze() {
	s.Helper()
	s.signal(syscall.SIGSTOP)
	s.Cleanup(s.thaw)
}

func (s *scene) thaw() { s.signal(syscall.SIGCONT) }

func (s *scene) signal(sig syscall.Signal) {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(s.lab.Dir(), "pid"))
	s.check(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	s.check(err)
	s.check(syscall.Kill(pid, sig))
}
