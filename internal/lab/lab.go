package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// callTimeout bounds one tmux command of the lab.
const callTimeout = 20 * time.Second

// Lab is a private tmux server and its folder.
type Lab struct {
	dir   string
	guard *exec.Cmd
	pipe  io.WriteCloser
	once  sync.Once
}

// Start makes the folder, after its guard, so that there is no instant in which
// a kill would leave it behind. The server itself starts with the first session.
func Start() (*Lab, error) {
	name := "arkamsg-lab-" + strings.ToLower(rand.Text()[:10]) // short: a socket's path is bounded to 107 bytes
	l := &Lab{dir: filepath.Join(os.TempDir(), name)}
	l.guard = exec.Command("/bin/sh", "-c", guardScript, "lab-guard", l.dir)
	l.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if l.pipe, err = l.guard.StdinPipe(); err != nil {
		return nil, err
	}
	if err := l.guard.Start(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		_ = l.guard.Process.Kill() // it must not remove what is not ours
		_ = l.guard.Wait()
		return nil, err
	}
	return l, nil
}

// guardScript waits for the end of its input. Programs that are still dying may
// write once more into the folder, so it is removed until it is gone.
//
// A client that was starting the server when we were killed may come too late
// for the first kill-server. After the rename no new server finds the folder,
// and one that got there first is still reached by its socket.
const guardScript = `[ "$(cat)" = closed ] && tries=1 || tries=40
mv -- "$1" "$1-" 2>/dev/null && set -- "$1-"
while [ $tries -gt 0 ]; do
	tmux -S "$1/tmux" kill-server 2>/dev/null
	tries=$((tries-1)); [ $tries -gt 0 ] && sleep 0.05
done
n=0
while [ -e "$1" ] && [ $n -lt 50 ]; do rm -rf -- "$1" 2>/dev/null; n=$((n+1)); [ -e "$1" ] && sleep 0.05; done
[ ! -e "$1" ]`

// Dir is the lab's folder; it goes with the lab.
func (l *Lab) Dir() string { return l.dir }

// Socket is the path of the server's socket.
func (l *Lab) Socket() string { return filepath.Join(l.dir, "tmux") }

// Close ends the server, every program in it that dies of a hangup, and the
// folder. It may be called more than once.
func (l *Lab) Close() error {
	var err error
	l.once.Do(func() {
		l.resume()
		_, _ = io.WriteString(l.pipe, "closed")
		_ = l.pipe.Close()
		err = l.guard.Wait()
	})
	return err
}

// resume wakes a server that a test has stopped, so that it can be killed.
func (l *Lab) resume() {
	if pid, err := os.ReadFile(filepath.Join(l.dir, "pid")); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
			_ = syscall.Kill(n, syscall.SIGCONT)
		}
	}
}

// Pane is a session with one pane.
type Pane struct {
	Session       string
	Argv          []string // the program, run without a shell
	Env           []string // "K=V", in addition
	Width, Height int      // 0: 100 × 30
}

// Open starts a session, and the server with the first one.
func (l *Lab) Open(p Pane) error {
	if p.Width == 0 {
		p.Width = 100
	}
	if p.Height == 0 {
		p.Height = 30
	}
	name := strings.ReplaceAll(p.Session, "#", "##") // new-session expands formats in it
	args := []string{"new-session", "-d", "-s", name, "-x", strconv.Itoa(p.Width), "-y", strconv.Itoa(p.Height)}
	for _, kv := range p.Env {
		args = append(args, "-e", kv)
	}
	args = append(append(args, "--"), p.Argv...)
	if _, err := l.Tmux(args...); err != nil {
		return err
	}
	pid, err := l.Tmux("display-message", "-p", "#{pid}")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, "pid"), []byte(pid), 0o600)
}

// Tmux runs one command on the lab's server and returns what it printed,
// without the last newline. Only the lab's own words are given to it.
func (l *Lab) Tmux(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-f", os.DevNull, "-S", l.Socket()}, args...)...)
	cmd.Env = environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// Screen is what a person would see in the session's active pane.
func (l *Lab) Screen(session string) (string, error) {
	return l.Tmux("capture-pane", "-p", "-t", "="+session+":")
}

// Program gives this executable another name, so that tmux shows it as an
// agent's: the path of a link in the lab's folder.
func (l *Lab) Program(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(l.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(bin, name)
	if err := os.Symlink(self, path); err != nil && !os.IsExist(err) {
		return "", err
	}
	return path, nil
}

// environment is ours without the variables that would name another server.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TMUX=") && !strings.HasPrefix(kv, "TMUX_PANE=") {
			env = append(env, kv)
		}
	}
	return env
}
