package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/notifyd"
)

func (p *program) journalVerb() *cli.Command {
	return &cli.Command{
		Name:  "journal",
		Usage: "prove, rebuild, archive or copy the journal",
		Subcommands: []*cli.Command{
			{
				Name: "verify", Usage: "prove that nothing was lost or changed; exit 7 if something was",
				Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object"}},
				Action: func(c *cli.Context) error {
					return p.looking(c, func(r *notifyd.Mailroom) error { return p.verify(c, r) })
				},
			},
			{
				Name: "rebuild", Usage: "make the projections anew from history",
				Description: "Verifies afterwards, and ends with 7 if something is still wrong.\n" +
					"With --accept-loss the journal goes on from what is there although its head file\n" +
					"names rows that are gone. Restore a backup instead if you have one.",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "accept-loss", Usage: "go on without rows that are gone"}},
				Action: func(c *cli.Context) error { return p.rebuild(c) },
			},
			{
				Name: "archive", Usage: "move old history to monthly files beside the journal",
				Flags: []cli.Flag{&cli.DurationFlag{Name: "older-than", Usage: "`AGE`, e.g. 720h (default: journal.archive_after)"}},
				Action: func(c *cli.Context) error {
					return p.working(c, func(room *notifyd.Mailroom) error {
						age := room.Config.Journal.ArchiveAfter
						if c.IsSet("older-than") {
							age = c.Duration("older-than")
						}
						n, err := room.Journal.Archive(c.Context, time.Now().Add(-age))
						if err == nil {
							p.printf("%d events moved\n", n)
						}
						return err
					})
				},
			},
			{
				Name: "backup", Usage: "copy the database while it runs, and verify the copy", ArgsUsage: "FILE",
				Action: func(c *cli.Context) error {
					dst, err := oneArgument(c, "file")
					if err != nil {
						return err
					}
					return p.working(c, func(room *notifyd.Mailroom) error {
						if err := room.Journal.Backup(c.Context, dst); err != nil {
							return err
						}
						p.printf("%s\n", dst)
						return nil
					})
				},
			},
		},
	}
}

func (p *program) verify(c *cli.Context, room *notifyd.Mailroom) error {
	report, err := room.Journal.Verify(c.Context)
	if err != nil {
		return err
	}
	if err := room.Journal.Keep(report); err != nil && errkind.Of(err) != errkind.Refused {
		return err // in a home that only can be read, status goes on showing the last one
	}
	if c.Bool("json") {
		if err := p.printJSON(reportJSON(report)); err != nil {
			return err
		}
	} else if report.OK() {
		p.printf("%d events and %d transitions proved, in %d files\n", report.Events, report.Transitions, 1+report.Archives)
	}
	return report.Err()
}

func reportJSON(r journal.Report) any {
	findings := r.Findings
	if findings == nil {
		findings = []journal.Finding{}
	}
	return struct {
		OK          bool              `json:"ok"`
		Events      int64             `json:"events"`
		Transitions int64             `json:"transitions"`
		Archives    int               `json:"archives"`
		Findings    []journal.Finding `json:"findings"`
		More        int               `json:"more,omitempty"`
	}{r.OK(), r.Events, r.Transitions, r.Archives, findings, r.More}
}

func (p *program) rebuild(c *cli.Context) error {
	return p.with(c, notifyd.OpenOptions{AcceptLoss: c.Bool("accept-loss")}, func(room *notifyd.Mailroom) error {
		if err := room.Journal.Rebuild(c.Context); err != nil {
			return err
		}
		if c.Bool("accept-loss") {
			if err := room.Journal.AcceptHead(c.Context); err != nil {
				return err
			}
		}
		p.printf("work, dead letters and counters are what history says\n")
		return p.verify(c, room)
	})
}
