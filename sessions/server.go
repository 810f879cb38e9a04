package sessions

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

// DefaultTimeout bounds one tmux command.
const DefaultTimeout = 2 * time.Second

// ServerOptions says which tmux server, and how to speak to it.
type ServerOptions struct {
	SocketName string        // as for tmux -L; empty with SocketPath: the user's default server
	SocketPath string        // as for tmux -S; wins over SocketName
	Timeout    time.Duration // per tmux command; 0: DefaultTimeout
	Logger     *slog.Logger  // nil: silent

	// Record, when set, is told the subcommands of every client before it runs.
	Record func(verbs []string)
}

// Server speaks to one tmux server by one-shot clients. It holds no connection
// and no state, is safe for concurrent use and needs no closing.
type Server struct {
	socket   []string
	deadline func() time.Duration // of one command
	log      *slog.Logger
	record   func([]string)
	pace     pace
}

// Connect names a server. It does not touch it: absence shows at the first call.
func Connect(o ServerOptions) *Server {
	s := &Server{log: o.Logger, record: o.Record, pace: defaultPace}
	switch {
	case o.SocketPath != "":
		s.socket = []string{"-S", o.SocketPath}
	case o.SocketName != "":
		s.socket = []string{"-L", o.SocketName}
	default:
		s.socket = []string{"-L", "default"} // whatever $TMUX says: the same config reaches the same server
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	s.deadline = func() time.Duration { return timeout }
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Version is the tmux client's own version line, "tmux 3.3a".
func (s *Server) Version(ctx context.Context) (string, error) {
	out, err := s.exec(ctx, nil, []string{"-V"})
	return strings.TrimSpace(string(out)), err
}

// do runs the commands as one sequence of one client. The context is looked at
// before, not during: a sequence that types is not torn by a cancellation, and
// the timeout bounds it.
func (s *Server) do(ctx context.Context, stdin []byte, cmds ...command) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, errkind.New(errkind.Interrupted, "stopped before tmux was asked").Wrap(err)
	}
	seq, err := sequence(cmds)
	if err != nil {
		return nil, errkind.New(errkind.Internal, "tmux command").Wrap(err)
	}
	if s.record != nil {
		s.record(verbs(cmds))
	}
	return s.exec(ctx, stdin, append(append([]string{"-u"}, s.socket...), seq...))
}

// exec runs one client in a process group of its own and kills the group at the
// deadline. A killed client's command may still run later (TMUX 22).
func (s *Server) exec(ctx context.Context, stdin []byte, argv []string) ([]byte, error) {
	deadline := s.deadline()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "tmux", argv...)
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for the answer to be read to its end on a busy machine
	cmd.Cancel = func() error {
		// A client hands its descriptors to the server, so that a stopped
		// server keeps our pipes open: there is nothing to wait for.
		cmd.WaitDelay = time.Millisecond
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	err := cmd.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, unavailable("tmux did not answer within %v", deadline).AsUnknown()
	}
	return nil, classify(err, stderr.String())
}

// environment drops $TMUX, so that the socket is what the configuration says,
// and the locale's influence is left to -u.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TMUX=") && !strings.HasPrefix(kv, "TMUX_PANE=") {
			env = append(env, kv)
		}
	}
	return env
}

// classify tells a missing session or server from a tmux that cannot be used;
// both exit 1, only the words differ (TMUX 15).
func classify(err error, stderr string) error {
	said := strings.TrimSpace(stderr)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(said, p) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return unavailable("tmux is not installed").WithHint("install tmux with your system's package manager")
	case has("no server running on"), has("error connecting to") && has("No such file or directory", "Connection refused"):
		return missing("no tmux server is running")
	case has("can't find session", "can't find window", "can't find pane", "no current target", "no such session"):
		return errkind.New(errkind.NotNow, "%s", plaintext.EscapeLine(said)).Wrap(ErrMoved)
	}
	if said == "" {
		said = err.Error()
	}
	return unavailable("tmux: %s", plaintext.EscapeLine(said)).AsUnknown()
}

func missing(format string, args ...any) *errkind.Error {
	return errkind.New(errkind.Refused, format, args...).Wrap(ErrMissing).
		WithHint("tmux list-sessions shows what is there; arkamsg never creates a session")
}

func unavailable(format string, args ...any) *errkind.Error {
	return errkind.New(errkind.NotNow, format, args...).Wrap(ErrUnavailable)
}
