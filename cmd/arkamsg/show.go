package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

func (p *program) showVerb() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "one event with its whole history",
		ArgsUsage: "ID",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object"}},
		Action: func(c *cli.Context) error {
			id, err := oneArgument(c, "message_id")
			if err != nil {
				return err
			}
			return p.looking(c, func(room *notifyd.Mailroom) error {
				rec, err := room.Lookup(c.Context, strings.TrimPrefix(id, "ptr:msg:"))
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.printJSON(notifyd.ShowRecord(rec, true))
				}
				return p.showRecord(rec)
			})
		},
	}
}

// oneArgument is the verb's only argument.
func oneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 {
		return "", errkind.New(errkind.Invalid, "%s needs one %s", c.Command.FullName(), what).
			WithHint("%s --help", c.Command.HelpName)
	}
	return c.Args().First(), nil
}

func (p *program) showRecord(r journal.Record) error {
	t := newTable(p.stdout)
	t.row("message", r.MessageID)
	t.row("event", r.ID)
	t.row("kind", r.Kind)
	t.row("state", stateAndReason(r.State, r.Reason))
	t.row("target", notifyd.Target(r.Lane))
	t.row("attempts", r.Attempts)
	t.row("created", stamp(r.CreatedAt))
	t.row("body", string(r.Body))
	if err := t.flush(); err != nil {
		return err
	}
	p.printf("\n")
	for _, h := range r.History {
		t.row(stamp(h.At), stateAndReason(h.State, h.Reason), "attempt", h.Attempt, h.Detail)
	}
	if err := t.flush(); err != nil {
		return err
	}
	return p.showEvidence(r)
}

// showEvidence prints the captured screen behind an outcome that nobody could
// prove, and what can be done about a failure.
func (p *program) showEvidence(r journal.Record) error {
	for _, h := range r.History {
		if h.Evidence != "" {
			p.printf("\nThe pane at %s:\n%s\n", stamp(h.At), h.Evidence)
		}
	}
	if r.State == journal.Failed {
		p.printf("\nNext: arkamsg dead show %s\n", r.MessageID)
	}
	return nil
}

func stateAndReason(s journal.State, r journal.Reason) string {
	if r == "" {
		return string(s)
	}
	return string(s) + " (" + string(r) + ")"
}
