package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/notifyd"
)

// A program is one invocation: its streams and what it may ask of the world.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	getwd          func() (string, error)
}

// run executes the command line and returns its exit code. Errors are printed
// here and nowhere else.
func (p *program) run(ctx context.Context, args []string) int {
	app := p.app()
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil {
		return exitDone
	}
	if errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled) {
		err = errkind.New(errkind.Interrupted, "interrupted")
	}
	return p.report(err)
}

func (p *program) app() *cli.App {
	return &cli.App{
		Name:  "arkamsg",
		Usage: "send work between AI agents in tmux panes: once, proven, harmless",
		Description: "Agents use push and pull. A daemon types one line into the reader's pane, once,\n" +
			"and never into a session that is not on the allow-list.\n\n" +
			"   arkamsg init                 write arka.yaml, choose the sessions that may be typed into\n" +
			"   arkamsg daemon               run in the foreground until Ctrl-C\n" +
			"   arkamsg push --from LD --to PMO --subject \"plan\" --message \"ready to read\"\n" +
			"   arkamsg pull --for PMO       what PMO has not read yet\n" +
			"   arkamsg status               is everything flowing?\n\n" +
			"Exit codes: 0 done, 1 internal error, 2 invalid input, 3 not found, 4 conflict,\n" +
			"5 refused by policy, 6 not now, 7 checked and found wrong, 130 interrupted.",
		Version:                version,
		HideVersion:            true, // `version` is a verb; -v is for --verbose
		EnableBashCompletion:   true,
		UseShortOptionHandling: true,
		Reader:                 p.stdin,
		Writer:                 p.stdout,
		ErrWriter:              p.stderr,
		ExitErrHandler:         func(*cli.Context, error) {},
		OnUsageError:           usageError,
		CommandNotFound:        nil,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "home", Usage: "`DIR` that holds arka.yaml (default: ARKA_HOME, the nearest parent with an arka.yaml, ~/.arka)"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "log what happens, on stderr"},
		},
		Action:   p.noVerb,
		Commands: p.commands(),
	}
}

// noVerb shows the help, or says that the verb is not known.
func (p *program) noVerb(c *cli.Context) error {
	if c.Args().Present() {
		return errkind.New(errkind.Invalid, "there is no verb %q", c.Args().First()).WithHint("arkamsg --help")
	}
	return cli.ShowAppHelp(c)
}

func usageError(c *cli.Context, err error, _ bool) error {
	hint := "arkamsg --help"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != "arkamsg" {
		hint = "arkamsg " + c.Command.Name + " --help"
	}
	return errkind.New(errkind.Invalid, "%s", err).WithHint("%s", hint)
}

// commands lists the verbs in the order in which people meet them.
func (p *program) commands() []*cli.Command {
	list := []*cli.Command{
		p.initVerb(), p.daemonVerb(), p.pushVerb(), p.pullVerb(),
		p.statusVerb(), p.doctorVerb(), p.sessionsVerb(),
		p.eventsVerb(), p.showVerb(), p.deadVerb(), p.threadsVerb(), p.journalVerb(),
		p.competenceVerb(), p.clientVerb(), p.userVerb(),
		p.versionVerb(), p.completionVerb(), p.demoVerb(), p.standinVerb(), p.manVerb(), p.openapiVerb(),
	}
	for _, c := range list {
		ready(c)
	}
	return list
}

// ready gives a verb and its sub-verbs what all have in common.
func ready(c *cli.Command) {
	c.OnUsageError = usageError
	c.HideHelpCommand = true
	if len(c.Subcommands) > 0 && c.Action == nil {
		c.Action = unknownSubverb
	}
	for _, sub := range c.Subcommands {
		ready(sub)
	}
}

func unknownSubverb(c *cli.Context) error {
	if c.Args().Present() {
		return errkind.New(errkind.Invalid, "%s has no verb %q", c.Command.Name, c.Args().First()).
			WithHint("arkamsg %s --help", c.Command.Name)
	}
	return cli.ShowSubcommandHelp(c)
}

// home says which home the command line means; it need not exist yet.
func (p *program) home(c *cli.Context) (config.Home, error) {
	wd, err := p.getwd()
	if err != nil {
		return "", err
	}
	return config.Find(c.String("home"), wd, p.getenv)
}

// configuration is the home that is meant and what its arka.yaml says.
func (p *program) configuration(c *cli.Context) (config.Home, *config.File, error) {
	home, err := p.home(c)
	if err != nil {
		return "", nil, err
	}
	file, err := p.load(home)
	return home, file, err
}

// load reads the home's configuration, with what the environment overrides.
func (p *program) load(home config.Home) (*config.File, error) {
	file, err := config.Load(home)
	if err != nil {
		return nil, err
	}
	file.Tmux = file.Tmux.Under(p.getenv)
	return file, nil
}

// working runs fn with the home opened for writing.
func (p *program) working(c *cli.Context, fn func(*notifyd.Mailroom) error) error {
	return p.with(c, notifyd.OpenOptions{}, fn)
}

// looking runs fn with the home opened so that nothing in it can change.
func (p *program) looking(c *cli.Context, fn func(*notifyd.Mailroom) error) error {
	return p.with(c, notifyd.OpenOptions{ReadOnly: true}, fn)
}

func (p *program) with(c *cli.Context, opts notifyd.OpenOptions, fn func(*notifyd.Mailroom) error) error {
	home, file, err := p.configuration(c)
	if err != nil {
		return err
	}
	opts.Logger = p.logger(c, slog.LevelWarn)
	room, err := notifyd.Open(c.Context, home, file, opts)
	if opts.ReadOnly && errkind.Of(err) == errkind.NotFound && err != nil {
		return errkind.New(errkind.NotFound, "nothing was ever sent from %s", home).Wrap(err).
			WithHint("the first arkamsg push or arkamsg daemon makes the journal")
	}
	if err != nil {
		return err
	}
	return errors.Join(fn(room), room.Close())
}

// logger writes lines for people on a terminal and JSON otherwise. Levels below
// least are dropped unless --verbose is given.
func (p *program) logger(c *cli.Context, least slog.Level) *slog.Logger {
	if c.Bool("verbose") {
		least = slog.LevelDebug
	}
	if terminal(p.stderr) {
		return slog.New(tint.NewTextHandler(p.stderr, &tint.Options{
			Level: least, TimeFormat: time.TimeOnly, NoColor: p.getenv("NO_COLOR") != "",
		}))
	}
	return slog.New(slog.NewJSONHandler(p.stderr, &slog.HandlerOptions{Level: least}))
}

// terminal reports whether the stream is somebody's screen or keyboard.
func terminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && isatty.IsTerminal(f.Fd())
}
