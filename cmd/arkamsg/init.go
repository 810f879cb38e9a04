package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/config"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

func (p *program) initVerb() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "write a commented arka.yaml and choose the sessions that may be typed into",
		Description: "Lists the tmux sessions that exist and asks for each which role lives in it; an\n" +
			"empty answer leaves it out. --yes asks nothing and allows none.\n\n" +
			"   arkamsg init\n" +
			"   arkamsg init --yes --project arka-labs-b --allow PMO=arka-arka-labs-b-PMO-codex",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "ask nothing; allow only what --allow names"},
			&cli.StringFlag{Name: "project", Usage: "`NAME` in composed session names"},
			&cli.StringFlag{Name: "provider", Usage: "`NAME` of the agents' program: codex, claude, gemini, opencode, generic"},
			&cli.StringSliceFlag{Name: "allow", Usage: "`ROLE=SESSION` that may be typed into; repeatable"},
		},
		Action: p.initialise,
	}
}

func (p *program) initialise(c *cli.Context) error {
	home, err := p.initHome(c)
	if err != nil {
		return err
	}
	in := config.Init{
		Project: c.String("project"), Provider: c.String("provider"),
		Socket: config.Tmux{}.Under(p.getenv), Allow: map[sessions.Role][]sessions.Name{},
	}
	if err := allowPairs(c.StringSlice("allow"), in.Allow); err != nil {
		return err
	}
	if !c.Bool("yes") {
		if err := p.offerSessions(c.Context, &in); err != nil {
			return err
		}
	}
	text, err := config.Render(in)
	if err != nil {
		return err
	}
	if err := writeConfig(home, text); err != nil {
		return err
	}
	if err := p.furnish(c, home); err != nil {
		return err
	}
	p.printf("%s\n", home.Config())
	fmt.Fprintf(p.stderr, "Next: arkamsg daemon, then arkamsg push --from ROLE --to ROLE --subject … --message …\n")
	return nil
}

// furnish makes the empty journal and backlog, so that whatever only reads finds
// something to read from now on.
func (p *program) furnish(c *cli.Context, home config.Home) error {
	file, err := p.load(home)
	if err != nil {
		return err
	}
	room, err := notifyd.Open(c.Context, home, file, notifyd.OpenOptions{Logger: p.logger(c, slog.LevelWarn)})
	if err != nil {
		return err
	}
	return room.Close()
}

// initHome is where the file goes: the home that was named, else this folder
// only if it is somebody's home already, else ~/.arka.
func (p *program) initHome(c *cli.Context) (config.Home, error) {
	wd, err := p.getwd()
	if err != nil {
		return "", err
	}
	home, err := config.Find(c.String("home"), wd, p.getenv)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(home.Config()); err == nil {
		return "", errkind.New(errkind.Conflict, "%s is there already", home.Config()).
			WithHint("edit it, or choose another home: arkamsg --home DIR init")
	}
	return home, nil
}

func allowPairs(pairs []string, allow map[sessions.Role][]sessions.Name) error {
	for _, pair := range pairs {
		role, session, ok := strings.Cut(pair, "=")
		if !ok || role == "" || session == "" {
			return errkind.New(errkind.Invalid, "--allow %q is not ROLE=SESSION", pair).WithHint("arkamsg init --help")
		}
		allow[sessions.Role(role)] = append(allow[sessions.Role(role)], sessions.Name(session))
	}
	return nil
}

// offerSessions asks, session by session, which role lives there. Without a
// keyboard nobody is asked and nothing is allowed.
func (p *program) offerSessions(ctx context.Context, in *config.Init) error {
	server := notifyd.Tmux(&config.File{Tmux: in.Socket}, nil)
	list, err := server.Sessions(ctx)
	if err != nil || len(list) == 0 {
		fmt.Fprintln(p.stderr, "No tmux session was found; add yours to 'allow' in arka.yaml later.")
		return nil
	}
	if !terminal(p.stdin) {
		fmt.Fprintln(p.stderr, "Not a terminal, so nothing is asked; name sessions with --allow ROLE=SESSION:")
		for _, s := range list {
			fmt.Fprintf(p.stderr, "  %s\n", plaintext.EscapeLine(string(s.Name)))
		}
		return nil
	}
	fmt.Fprintln(p.stderr, "Which role lives in each session? Empty: it is never typed into.")
	answers := bufio.NewScanner(p.input(ctx))
	for _, s := range list {
		if err := p.ask(answers, s.Name, in.Allow); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (p *program) ask(answers *bufio.Scanner, name sessions.Name, allow map[sessions.Role][]sessions.Name) error {
	fmt.Fprintf(p.stderr, "  %s: ", plaintext.EscapeLine(string(name)))
	if !answers.Scan() {
		return answers.Err()
	}
	if role := sessions.Role(strings.TrimSpace(answers.Text())); role != "" {
		allow[role] = append(allow[role], name)
	}
	return nil
}

// writeConfig creates the home and publishes the file; one that is there
// already is never overwritten.
func writeConfig(home config.Home, text []byte) error {
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		return errkind.New(errkind.Refused, "cannot create %s", home).Wrap(err)
	}
	root, err := os.OpenRoot(string(home))
	if err != nil {
		return errkind.New(errkind.Refused, "cannot open %s", home).Wrap(err)
	}
	defer root.Close()
	return durable.WriteNew(root, filepath.Base(home.Config()), text, 0o600)
}
