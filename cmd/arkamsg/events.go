package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

func (p *program) eventsVerb() *cli.Command {
	return &cli.Command{
		Name:  "events",
		Usage: "the journal, newest last",
		Description: "   arkamsg events --state failed --since 24h\n" +
			"   arkamsg events --follow --json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with what comes in, until Ctrl-C"},
			&cli.StringSliceFlag{Name: "state", Usage: "only `STATE`: queued, dispatched, delivered, failed; repeatable"},
			&cli.StringSliceFlag{Name: "kind", Usage: "only `KIND`, e.g. notify; repeatable"},
			&cli.StringFlag{Name: "since", Usage: "`AGE` such as 24h, or a time such as 2026-06-01T18:00:00Z"},
			&cli.IntFlag{Name: "limit", Value: 200, Usage: "at most the last `N`"},
			&cli.BoolFlag{Name: "tests", Usage: "include what doctor sent to itself"},
			&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"},
		},
		Action: func(c *cli.Context) error {
			filter, err := eventFilter(c, time.Now())
			if err != nil {
				return err
			}
			return p.looking(c, func(room *notifyd.Mailroom) error {
				return p.events(c.Context, room, filter, c.Bool("follow"), c.Bool("json"))
			})
		},
	}
}

func eventFilter(c *cli.Context, now time.Time) (journal.Filter, error) {
	f := journal.Filter{Limit: c.Int("limit"), IncludeTests: c.Bool("tests")}
	bad := errkind.New(errkind.Invalid, "no events were listed").WithHint("arkamsg events --help")
	for _, s := range c.StringSlice("state") {
		state := journal.State(s)
		if !slices.Contains(states, state) {
			bad.WithProblems(errkind.Problem{Field: "--state", Message: "\"" + s + "\" is not a state"})
		}
		f.States = append(f.States, state)
	}
	for _, k := range c.StringSlice("kind") {
		f.Kinds = append(f.Kinds, journal.Kind(k))
	}
	if f.Limit < 1 {
		bad.WithProblems(errkind.Problem{Field: "--limit", Message: "must be at least 1"})
	}
	if s := c.String("since"); s != "" {
		since, ok := parseSince(s, now)
		if !ok {
			bad.WithProblems(errkind.Problem{Field: "--since", Message: "\"" + s + "\" is neither an age nor a time"})
		}
		f.Since = since
	}
	if len(bad.Problems) > 0 {
		return f, bad
	}
	return f, nil
}

var states = []journal.State{journal.Queued, journal.Dispatched, journal.Delivered, journal.Failed}

func parseSince(s string, now time.Time) (time.Time, bool) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	t, err := time.Parse(time.RFC3339, strings.ToUpper(s))
	return t, err == nil
}

// events prints the list, then, when following, whatever comes after it.
func (p *program) events(ctx context.Context, room *notifyd.Mailroom, f journal.Filter, follow, asJSON bool) error {
	records, err := room.Journal.Events(ctx, f)
	if err != nil {
		return err
	}
	if err := p.printEvents(records, asJSON); err != nil || !follow {
		return err
	}
	return room.Follow(ctx, f, records, func(r []journal.Record) error { return p.printEvents(r, asJSON) })
}

func (p *program) printEvents(records []journal.Record, asJSON bool) error {
	t := newTable(p.stdout)
	for _, r := range records {
		if asJSON {
			if err := p.printJSON(notifyd.ShowRecord(r, false)); err != nil {
				return err
			}
			continue
		}
		t.row(stamp(r.CreatedAt), r.Kind, r.MessageID, notifyd.Target(r.Lane), stateAndReason(r.State, r.Reason))
	}
	return t.flush()
}
