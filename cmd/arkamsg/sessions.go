package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"arkamsg/notifyd"
)

func (p *program) sessionsVerb() *cli.Command {
	return &cli.Command{
		Name:  "sessions",
		Usage: "who can be reached, and if not, why",
		Description: "For each role on the allow-list: its session, its aliases, and what stands between\n" +
			"a message and the pane right now. Looks only; nothing is typed.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
		Action: func(c *cli.Context) error {
			_, file, err := p.configuration(c)
			if err != nil {
				return err
			}
			views, err := notifyd.LookAround(c.Context, file)
			if err != nil {
				return err
			}
			return p.printSessions(views, c.Bool("json"))
		},
	}
}

func (p *program) printSessions(views []notifyd.SessionView, asJSON bool) error {
	t := newTable(p.stdout)
	for _, v := range views {
		if asJSON {
			if err := p.printJSON(v); err != nil {
				return err
			}
			continue
		}
		state, next := "ready", ""
		if !v.Deliverable {
			state, next = string(v.Reason), notifyd.Remedy(v.Reason)
		}
		t.row(v.Role, v.Session, strings.Join(v.Aliases, ","), v.Program, state, next)
	}
	return t.flush()
}
