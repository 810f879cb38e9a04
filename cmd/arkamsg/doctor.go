package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/doctor"
	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/sessions"
)

func (p *program) doctorVerb() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "does it work from end to end, and if not, what do I type?",
		Description: "Checks this home and its sessions, sends a test message to one of them and watches\n" +
			"it arrive, and one to a session that does not exist. Test messages stand in no\n" +
			"inbox and no counter; the one that arrives is a line in an agent's pane.\n\n" +
			"   arkamsg doctor --session arka-arka-labs-b-PMO-codex\n" +
			"   arkamsg doctor --lab --json      in CI: everything, on a private tmux server\n\n" +
			"Exit 0: it works. Exit 7: something does not; each code is in docs/runbook.md.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "lab", Usage: "on a scratch home with stand-in agents; touches nothing of yours and leaves nothing"},
			&cli.StringFlag{Name: "session", Usage: "`NAME` of the session that gets the test message (default: the first that takes one)"},
			&cli.BoolFlag{Name: "json", Usage: "one JSON object"},
		},
		Action: p.doctor,
	}
}

func (p *program) doctor(c *cli.Context) error {
	report, err := p.examine(c)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = p.printJSON(report)
	} else {
		p.printReport(report)
	}
	if err == nil && !report.Passed() {
		err = verdict(exitCodes[errkind.Damaged])
	}
	return err
}

func (p *program) examine(c *cli.Context) (doctor.Report, error) {
	switch {
	case c.NArg() > 0:
		return doctor.Report{}, errkind.New(errkind.Invalid, "%q was not expected", c.Args().First()).WithHint("arkamsg doctor --help")
	case c.Bool("lab") && c.IsSet("session"):
		return doctor.Report{}, errkind.New(errkind.Invalid, "--lab has agents of its own and takes no --session").WithHint("arkamsg doctor --help")
	}
	show := newProgress(p, c.Bool("json"))
	defer show.clear()
	o := doctor.Options{Version: version, Load: p.load, Session: sessions.Name(c.String("session")), Observe: show.observe}
	if c.Bool("lab") {
		return doctor.Lab(c.Context, o)
	}
	return p.examineHome(c.Context, c, o)
}

func (p *program) examineHome(ctx context.Context, c *cli.Context, o doctor.Options) (doctor.Report, error) {
	var err error
	if o.Home, err = p.home(c); err != nil {
		return doctor.Report{}, err
	}
	return doctor.Home(ctx, o)
}

const yellow = "\x1b[33m"

var stateColours = map[doctor.State]string{doctor.OK: green, doctor.Warn: yellow, doctor.Fail: red, doctor.Skipped: ""}

// printReport is one line per check, more only where there is more to say, and
// the verdict.
func (p *program) printReport(r doctor.Report) {
	for _, c := range r.Checks {
		first, rest, _ := strings.Cut(plaintext.EscapeText(c.Detail), "\n")
		fmt.Fprintf(p.stdout, "%s  %-16s %s: %s\n", p.stateWord(c.State), c.Code, c.Title, first)
		for line := range strings.Lines(rest) {
			fmt.Fprintf(p.stdout, "%26s%s\n", "", strings.TrimSuffix(line, "\n"))
		}
		if c.Remedy != "" {
			fmt.Fprintf(p.stdout, "%26s-> %s\n", "", plaintext.EscapeLine(c.Remedy))
		}
	}
	fmt.Fprintln(p.stdout, p.verdictLine(r))
}

func (p *program) stateWord(s doctor.State) painted {
	return p.paint(stateColours[s], fmt.Sprintf("%-7s", s))
}

func (p *program) verdictLine(r doctor.Report) string {
	count := func(s doctor.State) int {
		n := 0
		for _, c := range r.Checks {
			if c.State == s {
				n++
			}
		}
		return n
	}
	took := (time.Duration(r.TookMS) * time.Millisecond).Round(100 * time.Millisecond)
	if r.Passed() {
		return fmt.Sprintf("%s: %d checks, %d warnings, in %v", p.paint(green, "PASS"), len(r.Checks), count(doctor.Warn), took)
	}
	return fmt.Sprintf("%s: %d failed, %d skipped because of that, in %v; what a code means: docs/runbook.md",
		p.paint(red, "FAIL"), count(doctor.Fail), count(doctor.Skipped), took)
}

// progress shows on stderr that something is going on: one line in place on a
// terminal; elsewhere, when stdout will hold nothing but the object, a line per
// check.
type progress struct {
	p       *program
	inPlace bool
	lines   bool
	running []string
}

func newProgress(p *program, asJSON bool) *progress {
	return &progress{p: p, inPlace: terminal(p.stderr), lines: asJSON}
}

// observe is called by one goroutine at a time.
func (g *progress) observe(e doctor.Progress) {
	code := string(e.Code)
	if e.Result == nil {
		g.running = append(g.running, code)
	} else {
		g.running = slices.DeleteFunc(g.running, func(s string) bool { return s == code })
	}
	switch {
	case g.inPlace:
		fmt.Fprintf(g.p.stderr, "\r\x1b[Kchecking: %.60s", strings.Join(g.running, " "))
	case g.lines && e.Result != nil:
		fmt.Fprintf(g.p.stderr, "%-7s  %s\n", e.Result.State, code)
	}
}

func (g *progress) clear() {
	if g.inPlace {
		fmt.Fprint(g.p.stderr, "\r\x1b[K")
	}
}
