package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

func (p *program) deadVerb() *cli.Command {
	return &cli.Command{
		Name:  "dead",
		Usage: "dead letters: what could not be delivered",
		Description: "   arkamsg dead list --reason missing_session\n" +
			"   arkamsg dead show ID         what happened, the evidence, what each choice will do\n" +
			"   arkamsg dead retry ID        a new attempt under the same message_id\n" +
			"   arkamsg dead clear ID --why \"sent by mail\"",
		Subcommands: []*cli.Command{p.deadList(), p.deadShow(), p.deadRetry(), p.deadClear()},
	}
}

var deadFlags = []cli.Flag{
	&cli.StringFlag{Name: "reason", Usage: "only those that failed for `REASON`"},
	&cli.StringFlag{Name: "target", Usage: "only those for this `SESSION`"},
	&cli.DurationFlag{Name: "older-than", Usage: "only those that failed at least `AGE` ago, e.g. 24h"},
}

func deadFilter(c *cli.Context) (journal.DeadFilter, error) {
	f := journal.DeadFilter{ID: journal.MessageID(c.Args().First()), Reason: journal.Reason(c.String("reason"))}
	if d := c.Duration("older-than"); d > 0 {
		f.OlderThan = time.Now().Add(-d)
	}
	if t := c.String("target"); t != "" {
		f.Lane = notifyd.LaneOf(t)
	}
	if f.Reason != "" && !slices.Contains(journal.Reasons, f.Reason) {
		return f, errkind.New(errkind.Invalid, "%q is not a reason", string(f.Reason)).
			WithHint("one of: %s", journal.Reasons)
	}
	return f, nil
}

func (p *program) deadList() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "all of them, oldest first",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}}, deadFlags...),
		Action: func(c *cli.Context) error {
			f, err := deadFilter(c)
			if err != nil {
				return err
			}
			return p.looking(c, func(room *notifyd.Mailroom) error {
				letters, err := room.Journal.Dead(c.Context, f)
				if err != nil {
					return err
				}
				return p.printDead(letters, c.Bool("json"))
			})
		},
	}
}

func (p *program) printDead(letters []journal.DeadLetter, asJSON bool) error {
	if len(letters) == 0 && !asJSON {
		fmt.Fprintln(p.stderr, "no dead letters")
	}
	t := newTable(p.stdout)
	for _, l := range letters {
		if asJSON {
			if err := p.printJSON(deadJSON(l)); err != nil {
				return err
			}
			continue
		}
		t.row(l.MessageID, l.Reason, notifyd.Target(l.Lane), age(time.Since(l.At))+" ago", l.Detail)
	}
	return t.flush()
}

func deadJSON(l journal.DeadLetter) any {
	return struct {
		MessageID journal.MessageID `json:"message_id"`
		Kind      journal.Kind      `json:"kind"`
		Target    string            `json:"target"`
		Reason    journal.Reason    `json:"reason"`
		At        any               `json:"at"`
		Attempts  int               `json:"attempts"`
		Detail    string            `json:"detail"`
		Evidence  string            `json:"evidence,omitempty"`
		Next      string            `json:"next"`
	}{l.MessageID, l.Kind, notifyd.Target(l.Lane), l.Reason, stamp(l.At), l.Attempts, l.Detail, l.Evidence, notifyd.RemedyFor(l.Reason, l.MessageID, notifyd.Target(l.Lane))}
}

func (p *program) deadShow() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "what happened, the evidence, and what each choice will do", ArgsUsage: "ID",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object"}},
		Action: func(c *cli.Context) error {
			id, err := oneArgument(c, "message_id")
			if err != nil {
				return err
			}
			return p.looking(c, func(room *notifyd.Mailroom) error {
				l, err := room.DeadLetter(c.Context, journal.MessageID(id))
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.printJSON(deadJSON(l))
				}
				p.explainDead(l)
				return nil
			})
		},
	}
}

func (p *program) explainDead(l journal.DeadLetter) {
	p.printf("%s (%s) for %s failed at %s: %s\n", l.MessageID, l.Kind, notifyd.Target(l.Lane), stamp(l.At), l.Reason)
	if l.Detail != "" {
		p.printf("%s\n", l.Detail)
	}
	if l.Evidence != "" {
		p.printf("\nThe pane as it was:\n%s\n", l.Evidence)
	}
	p.printf("\nWhat helps:  %s\n", notifyd.RemedyFor(l.Reason, l.MessageID, notifyd.Target(l.Lane)))
	p.printf("arkamsg dead retry %s\n    tries again under the same id; what stands in the pane already is recognised by its mark and not typed twice\n", l.MessageID)
	p.printf("arkamsg dead retry %s --retype\n    you have looked and it did not arrive: types it again whatever the mark says\n", l.MessageID)
	p.printf("arkamsg dead clear %s --why TEXT\n    lets it go and records why; the history stays\n", l.MessageID)
}

func (p *program) deadRetry() *cli.Command {
	return &cli.Command{
		Name: "retry", Usage: "a new attempt under the same message_id", ArgsUsage: "[ID]",
		Description: "Without an ID, one of --reason, --target, --older-than or --all selects several.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "every dead letter"},
			&cli.BoolFlag{Name: "retype", Usage: "you have looked: it did not arrive, type it again"},
			&cli.BoolFlag{Name: "json", Usage: "one receipt per line"},
		}, deadFlags...),
		Action: func(c *cli.Context) error {
			return p.eachDead(c, func(room *notifyd.Mailroom, l journal.DeadLetter) error {
				if c.Bool("retype") {
					if err := room.Retype(c.Context, l); err != nil {
						return err
					}
				}
				r, err := room.Journal.RetryDead(c.Context, l.MessageID)
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.printJSON(notifyd.Receipt{MessageID: r.MessageID, EventID: r.EventID, State: r.State})
				}
				p.printf("%s\n", r.MessageID)
				return nil
			})
		},
	}
}

func (p *program) deadClear() *cli.Command {
	return &cli.Command{
		Name: "clear", Usage: "let go, and record why", ArgsUsage: "[ID]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "why", Usage: "the `REASON` to record", Required: true},
			&cli.BoolFlag{Name: "all", Usage: "every dead letter"},
		}, deadFlags...),
		Action: func(c *cli.Context) error {
			return p.eachDead(c, func(room *notifyd.Mailroom, l journal.DeadLetter) error {
				if err := room.Journal.ClearDead(c.Context, l.MessageID, c.String("why")); err != nil {
					return err
				}
				p.printf("%s\n", l.MessageID)
				return nil
			})
		},
	}
}

// eachDead runs fn for the letter that is named, or for all that are selected.
func (p *program) eachDead(c *cli.Context, fn func(*notifyd.Mailroom, journal.DeadLetter) error) error {
	f, err := deadFilter(c)
	if err != nil {
		return err
	}
	selected := c.Bool("all") || f.Reason != "" || f.Lane != "" || !f.OlderThan.IsZero()
	if (c.NArg() == 1) == selected || c.NArg() > 1 {
		return errkind.New(errkind.Invalid, "name one ID, or select with --reason, --target, --older-than or --all").
			WithHint("arkamsg dead list")
	}
	return p.working(c, func(room *notifyd.Mailroom) error {
		if c.NArg() == 1 {
			l, err := room.DeadLetter(c.Context, f.ID)
			if err != nil {
				return err
			}
			return fn(room, l)
		}
		letters, err := room.Journal.Dead(c.Context, f)
		if err != nil {
			return err
		}
		for _, l := range letters {
			if err := fn(room, l); err != nil {
				return err
			}
		}
		return nil
	})
}
