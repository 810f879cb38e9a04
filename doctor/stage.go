package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/lab"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

// stage is the lab's home with everything that runs in it.
type stage struct {
	lab     *lab.Lab
	home    config.Home
	program string
	server  int // the tmux server's pid, for leftovers

	daemon *exec.Cmd
	ended  chan struct{} // closed when the daemon has
	log    *daemonLog
	play   play
}

// actor is a stand-in agent. Absent leaves in the course of the play.
type actor struct {
	role    sessions.Role
	session sessions.Name
	look    string
}

var actors = []actor{
	{"LD", "arka-lab-LD-codex", "codex"},
	{"PMO", "arka-lab-PMO-codex", "codex"},
	{"Owner", "arka-lab-Owner-generic", "generic"},
	{"Absent", "arka-lab-Absent-codex", "codex"},
}

func checkLab(ctx context.Context, p *patient) Finding {
	remedy := "see that temporary files can be made and programs started: ls -ld ${TMPDIR:-/tmp}; ulimit -u"
	l, err := lab.Start()
	if err != nil {
		return failure(err, remedy)
	}
	s := &stage{lab: l, home: config.Home(filepath.Join(l.Dir(), "home")), program: p.Program, log: newDaemonLog(), ended: make(chan struct{})}
	p.onClose(s.close)
	p.home, p.stage = s.home, s
	for _, step := range []func(context.Context) error{s.writeHome, s.openPanes, s.startDaemon, s.everybodyReady} {
		if err := step(ctx); err != nil {
			return failure(err, remedy)
		}
	}
	return ok("%s", l.Dir())
}

// writeHome renders the same arka.yaml that init would.
func (s *stage) writeHome(context.Context) error {
	in := config.Init{Project: "lab", Socket: config.Tmux{SocketPath: s.lab.Socket()}, Allow: map[sessions.Role][]sessions.Name{}}
	for _, a := range actors {
		in.Allow[a.role] = []sessions.Name{a.session}
	}
	text, err := config.Render(in)
	if err != nil {
		return err
	}
	return errors.Join(os.Mkdir(string(s.home), 0o700), os.WriteFile(s.home.Config(), text, 0o600))
}

func (s *stage) openPanes(context.Context) error {
	if err := os.Mkdir(s.inLab("bin"), 0o700); err != nil {
		return err
	}
	for _, a := range actors {
		program := s.inLab("bin", a.look) // what tmux shows as the pane's program
		if err := os.Symlink(s.program, program); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		argv := []string{program, "standin", "--profile", a.look, "--log", s.record(a.role)}
		if err := s.lab.Open(lab.Pane{Session: string(a.session), Argv: argv, Width: 160, Height: 40}); err != nil {
			return err
		}
	}
	pid, err := s.lab.Tmux("display-message", "-p", "#{pid}")
	if err == nil {
		s.server, err = strconv.Atoi(pid)
	}
	return err
}

func (s *stage) inLab(parts ...string) string {
	return filepath.Join(append([]string{s.lab.Dir()}, parts...)...)
}

// record is where the stand-in of a role writes what reached it.
func (s *stage) record(role sessions.Role) string { return s.inLab(string(role) + ".jsonl") }

// startDaemon runs `arkamsg daemon` and waits until it says that it is ready.
func (s *stage) startDaemon(ctx context.Context) error {
	cmd := exec.Command(s.program, "--home", string(s.home), "daemon") //nolint:gosec // ourselves
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = environment(), s.log, bound()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.daemon = cmd
	go func() {
		_ = cmd.Wait() // how it ended stands in its log
		close(s.ended)
	}()
	select {
	case <-s.log.ready:
		return nil
	case <-s.ended:
		return fmt.Errorf("the daemon ended at once: %s", s.log)
	case <-ctx.Done():
		return fmt.Errorf("the daemon does not get ready: %s", s.log)
	}
}

func (s *stage) everybodyReady(ctx context.Context) error {
	file, err := config.Load(s.home)
	if err != nil {
		return err
	}
	for {
		views, err := notifyd.LookAround(ctx, file)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(views, func(v notifyd.SessionView) bool { return !v.Deliverable })
		if i < 0 {
			return nil
		}
		if !pause(ctx, 30*time.Millisecond) {
			return fmt.Errorf("the stand-in of %s does not get ready: %s %s", views[i].Role, views[i].Reason, views[i].Detail)
		}
	}
}

// arkamsg runs one verb of the program to its end.
func (s *stage) arkamsg(ctx context.Context, args ...string) (stdout string, code int, err error) {
	cmd := exec.CommandContext(ctx, s.program, append([]string{"--home", string(s.home)}, args...)...) //nolint:gosec // ourselves
	var out, said bytes.Buffer
	cmd.Env, cmd.SysProcAttr = environment(), bound()
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return out.String() + said.String(), exit.ExitCode(), nil
	}
	return out.String(), 0, err
}

// environment is ours without what would lead a child out of the lab.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{config.EnvHome, config.EnvTmuxSocket, "TMUX", "TMUX_PANE", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}, name)
	})
}

// stopPatience is what the daemon gets to finish its step in hand.
const stopPatience = 3 * time.Second

// close ends the daemon, then the panes with their server, then the folder.
func (s *stage) close() error {
	if s.daemon != nil {
		_ = s.daemon.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.ended:
		case <-time.After(stopPatience):
			_ = s.daemon.Process.Kill()
			<-s.ended
		}
	}
	return s.lab.Close()
}

var leftoversCheck = Check{Code: "lab_clean", Title: "nothing is left of the lab"}

// leftovers is made after everything was closed.
func (p *patient) leftovers(closing error) Result {
	c := leftoversCheck
	p.Observe(Progress{c.Code, c.Title, nil})
	began := time.Now()
	f := Finding{State: Skipped, Detail: "because there was no lab"}
	if p.stage != nil {
		f = p.stage.remains(closing)
	}
	r := Result{c.Code, c.Title, f.State, f.Detail, f.Remedy, time.Since(began).Milliseconds()}
	p.Observe(Progress{c.Code, c.Title, &r})
	return r
}

func (s *stage) remains(closing error) Finding {
	dir := s.lab.Dir()
	if closing != nil {
		return fail("rm -r "+dir, "%v", closing)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return fail("rm -r "+dir, "%s is still there", dir)
	}
	if s.daemon != nil && lives(s.daemon.Process.Pid) {
		return fail(fmt.Sprintf("kill -9 %d", s.daemon.Process.Pid), "the lab's daemon is still there")
	}
	for until := time.Now().Add(2 * time.Second); s.server > 0 && lives(s.server); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			return fail(fmt.Sprintf("kill %d", s.server), "the private tmux server (pid %d) is still there", s.server)
		}
	}
	return ok("no process, no server, no folder")
}

// daemonLog keeps the end of what the daemon says and notices "ready".
type daemonLog struct {
	mu    sync.Mutex
	tail  []byte
	once  sync.Once
	ready chan struct{}
}

// logTail is enough for the last few lines.
const logTail = 2 << 10

func newDaemonLog() *daemonLog { return &daemonLog{ready: make(chan struct{})} }

func (l *daemonLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, b...)
	if bytes.HasPrefix(l.tail, []byte("ready\n")) || bytes.Contains(l.tail, []byte("\nready\n")) {
		l.once.Do(func() { close(l.ready) })
	}
	l.tail = l.tail[max(0, len(l.tail)-logTail):]
	return len(b), nil
}

func (l *daemonLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.tail))
}
