package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

func (p *program) threadsVerb() *cli.Command {
	list := &cli.Command{
		Name: "list", Usage: "one line per thread, newest first",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
		Action: func(c *cli.Context) error { return p.threadList(c) },
	}
	return &cli.Command{
		Name:  "threads",
		Usage: "the backlog as people read it",
		Description: "   arkamsg threads list         threads, and files that cannot be accepted with all their problems\n" +
			"   arkamsg threads show NAME    the messages of one thread, oldest first\n" +
			"   arkamsg threads index        writes a readable index beside the backlog",
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return unknownSubverb(c)
			}
			return p.threadList(c)
		},
		Flags: []cli.Flag{jsonFlag("one JSON object per line")},
		Subcommands: []*cli.Command{
			list,
			{
				Name: "show", Usage: "the messages of one thread, oldest first", ArgsUsage: "NAME",
				Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
				Action: func(c *cli.Context) error {
					name, err := oneArgument(c, "thread")
					if err != nil {
						return err
					}
					return p.working(c, func(room *notifyd.Mailroom) error {
						return p.threadShow(c.Context, room, name, c.Bool("json"))
					})
				},
			},
			{
				Name: "index", Usage: "write a readable index on demand",
				Action: func(c *cli.Context) error {
					return p.working(c, func(room *notifyd.Mailroom) error {
						path, err := room.Tree.Index(c.Context)
						if err == nil {
							p.printf("%s\n", path)
						}
						return err
					})
				},
			},
		},
	}
}

func (p *program) threadList(c *cli.Context) error {
	return p.working(c, func(room *notifyd.Mailroom) error {
		threads, err := room.Tree.Threads(c.Context)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			for _, th := range threads {
				if err := p.printJSON(threadJSON(th)); err != nil {
					return err
				}
			}
			return nil
		}
		return p.printThreads(threads)
	})
}

func (p *program) printThreads(threads []messaging.Thread) error {
	t := newTable(p.stdout)
	for _, th := range threads {
		t.row(th.Name, th.State, fmt.Sprintf("%d messages", len(th.Messages)), stamp(th.Last))
		for _, e := range th.Messages {
			for _, problem := range e.Problems {
				t.row("  ! "+e.Path, problem.String())
			}
		}
	}
	return t.flush()
}

type fileProblem struct {
	Path    string `json:"path"`
	Field   string `json:"field,omitempty"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

func threadJSON(th messaging.Thread) any {
	v := struct {
		Name     string        `json:"name"`
		Topic    string        `json:"topic"`
		State    string        `json:"state"`
		Began    any           `json:"began"`
		Last     any           `json:"last"`
		Messages int           `json:"messages"`
		Problems []fileProblem `json:"problems,omitempty"`
	}{Name: th.Name, Topic: th.Topic, State: th.State, Began: stamp(th.Began), Last: stamp(th.Last), Messages: len(th.Messages)}
	for _, e := range th.Messages {
		for _, pr := range e.Problems {
			v.Problems = append(v.Problems, fileProblem{e.Path, pr.Field, pr.Line, pr.Message})
		}
	}
	return v
}

// threadShow prints the messages of the thread; peeking is not reading, so
// nothing is marked.
func (p *program) threadShow(ctx context.Context, room *notifyd.Mailroom, name string, asJSON bool) error {
	threads, err := room.Tree.Threads(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(threads, func(t messaging.Thread) bool { return t.Name == name || t.Topic == name })
	if i < 0 {
		return errkind.New(errkind.NotFound, "there is no thread %q", name).WithHint("arkamsg threads list")
	}
	for n, e := range threads[i].Messages {
		msg, err := room.Tree.Read(e.Path)
		if err != nil {
			fmt.Fprintf(p.stderr, "! %s: %s\n", plaintext.EscapeLine(e.Path), plaintext.EscapeText(err.Error()))
			continue
		}
		if err := p.showItem(notifyd.Item{Ref: e.Ref, Message: msg}, asJSON, n > 0); err != nil {
			return err
		}
	}
	return nil
}
