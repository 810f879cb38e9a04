package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// env is what every process of the demo sees.
func (s *stage) env() []string {
	return []string{
		"PATH=" + s.bin + ":" + os.Getenv("PATH"),
		"ARKA_BIN=" + s.bin, // tmux gives its panes another PATH
		"ARKA_HOME=" + s.home,
		"ARKA_TMUX_SOCKET=" + s.lab.Socket(),
	}
}

func (s *stage) say(text string) {
	if s.Colour {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	fmt.Fprintf(s.Out, "\n%s\n", text)
}

func (s *stage) command(line string) { fmt.Fprintf(s.Out, "$ %s\n", line) }

// run prints a command line and runs exactly that.
func (s *stage) run(ctx context.Context, line string) error {
	s.command(line)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Env = append(os.Environ(), s.env()...)
	cmd.Stdout, cmd.Stderr = s.Out, s.Out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("demo: %s: %w", line, err)
	}
	return nil
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// A background is the demo's daemon.
type background struct{ cmd *exec.Cmd }

// startDaemon returns when the daemon says that it is ready.
func (s *stage) startDaemon(ctx context.Context) (background, error) {
	s.command("arkamsg daemon &")
	cmd := exec.Command(s.bin+"/arkamsg", "daemon")
	cmd.Env = append(os.Environ(), s.env()...)
	cmd.SysProcAttr = dieWithParent()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return background{}, err
	}
	if err := cmd.Start(); err != nil {
		return background{}, fmt.Errorf("demo: %w", err)
	}
	ready := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(stderr)
		var last string
		for lines.Scan() {
			if last = lines.Text(); last == "ready" {
				ready <- nil
			}
		}
		ready <- fmt.Errorf("demo: the daemon ended: %s", strings.TrimSpace(last))
	}()
	d := background{cmd}
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(10 * time.Second):
		err = errors.New("demo: the daemon did not become ready")
	}
	if err != nil {
		return d, errors.Join(err, d.stop())
	}
	fmt.Fprintln(s.Out, "ready")
	return d, nil
}

// stop asks the daemon to leave, and makes it after a while.
func (d background) stop() error {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	force := time.AfterFunc(5*time.Second, func() { _ = d.cmd.Process.Kill() })
	defer force.Stop()
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("demo: daemon: %w", err)
	}
	return nil
}
