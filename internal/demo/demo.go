package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"arkamsg/internal/lab"
	"arkamsg/internal/plaintext"
)

//go:embed agent.sh
var agentScript []byte

// Options are what the demo needs of its caller.
type Options struct {
	Out    io.Writer // the story
	Colour bool
}

// stage is a running demo.
type stage struct {
	Options
	lab  *lab.Lab
	home string
	bin  string // folder that holds arkamsg
}

// Run tells the story. It returns early when ctx ends; either way nothing that
// it started is left.
func Run(ctx context.Context, o Options) (err error) {
	l, err := lab.Start()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s := &stage{Options: o, lab: l, home: filepath.Join(l.Dir(), "home")}
	if err := s.prepare(); err != nil {
		return err
	}
	s.say("A private tmux server with three agents, and a home that goes away afterwards.")
	if err := s.run(ctx, "arkamsg init --yes --project demo"+s.allowed("LD", "PMO", "Owner", "ARCH")); err != nil {
		return err
	}
	daemon, err := s.startDaemon(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.stop()) }()
	return s.tell(ctx)
}

// tell is the story itself.
func (s *stage) tell(ctx context.Context) error {
	scenes := []func(context.Context) error{s.delivery, s.answer, s.block, s.health}
	for _, scene := range scenes {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	s.say("To use it for real:")
	s.command("arkamsg init      # choose which of your tmux sessions may be typed into")
	s.command("arkamsg daemon    # leave it running in a pane, or see docs/runbook.md")
	s.command(`arkamsg push --from LD --to PMO --subject "hello" --message "first message"`)
	return ctx.Err()
}

func (s *stage) delivery(ctx context.Context) error {
	s.say("LD sends PMO a message. The daemon types one line into PMO's pane and proves it.")
	return s.run(ctx, `arkamsg push --from LD --to PMO --subject "release plan" --message "Please review the plan." --id plan-1 --wait 20s`)
}

// answer waits for the agent's own doing: it pulled, and pushed a RESULT.
func (s *stage) answer(ctx context.Context) error {
	if err := s.until(ctx, "LD", "ptr:msg:plan-2"); err != nil {
		return err
	}
	s.pane("PMO")
	s.say("PMO's agent read the message (arkamsg pull) and pushed a RESULT. LD's pane was told:")
	s.pane("LD")
	s.say("The thread on disk, readable without any program:")
	return s.run(ctx, `cat "$ARKA_HOME"/messaging/msg/*/RESULT__*.yaml`)
}

func (s *stage) block(ctx context.Context) error {
	s.say("Now to ARCH, whose session does not exist. It is blocked, never created:")
	err := s.run(ctx, `arkamsg push --from LD --to ARCH --subject "schema" --message "Which one?" --id schema-1 --wait 20s`)
	if code := exitCode(err); code != 5 {
		return fmt.Errorf("demo: expected the message to be blocked (exit 5), got: %w", err)
	}
	if err := errors.Join(s.until(ctx, "LD", "non active"), s.until(ctx, "PMO", "[Escalade]"), s.quiet(ctx)); err != nil {
		return err
	}
	s.say("The sender was told, and PMO, once:")
	s.pane("LD")
	s.pane("PMO")
	return nil
}

func (s *stage) health(ctx context.Context) error {
	if err := s.run(ctx, "arkamsg dead list"); err != nil {
		return err
	}
	return s.run(ctx, "arkamsg status")
}

func session(role string) string { return "arka-demo-" + role + "-codex" }

func (s *stage) allowed(roles ...string) string {
	var b strings.Builder
	for _, r := range roles {
		fmt.Fprintf(&b, " --allow %s=%s", r, session(r))
	}
	return b.String()
}

// prepare makes the folder of the demo and opens the agents' panes.
func (s *stage) prepare() error {
	codex, err := s.lab.Program("codex")
	if err != nil {
		return err
	}
	if _, err := s.lab.Program("arkamsg"); err != nil {
		return err
	}
	s.bin = filepath.Dir(codex)
	script := filepath.Join(s.bin, "agent.sh")
	if err := os.WriteFile(script, agentScript, 0o700); err != nil {
		return err
	}
	for _, role := range []string{"LD", "PMO", "Owner"} {
		pane := lab.Pane{
			Session: session(role), Env: append(s.env(), "ARKA_ROLE="+role), Width: 100, Height: 24,
			Argv: []string{codex, "standin", "--profile", "codex", "--on-submit", script},
		}
		if err := s.lab.Open(pane); err != nil {
			return err
		}
	}
	return nil
}

// until waits for a text to show in a role's pane.
func (s *stage) until(ctx context.Context, role, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		screen, err := s.lab.Screen(session(role))
		if err == nil && strings.Contains(strings.ReplaceAll(screen, "\n", ""), text) {
			return nil
		}
		select {
		case <-ctx.Done():
			s.pane("PMO")
			s.pane(role)
			return fmt.Errorf("demo: %q never showed in the pane of %s: %w", text, role, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// quiet waits until nothing is on its way any more.
func (s *stage) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "arkamsg"), "status", "--json")
		cmd.Env = append(os.Environ(), s.env()...)
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("demo: status: %w", err)
		}
		if strings.Contains(string(out), `"queued":0,"dispatched":0`) {
			return nil
		}
	}
}

// pane shows a role's pane in a frame, as a person would see it.
func (s *stage) pane(role string) {
	screen, err := s.lab.Screen(session(role))
	if err != nil {
		return
	}
	const width = 100
	fmt.Fprintf(s.Out, "\n  ┌─ %s %s┐\n", session(role), strings.Repeat("─", width-len(session(role))-3))
	for line := range strings.Lines(strings.TrimRight(screen, "\n ") + "\n") {
		line = plaintext.EscapeLine(strings.TrimRight(line, "\n"))
		fmt.Fprintf(s.Out, "  │%s%s│\n", line, strings.Repeat(" ", max(0, width-len([]rune(line)))))
	}
	fmt.Fprintf(s.Out, "  └%s┘\n", strings.Repeat("─", width))
}
