package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

func (p *program) pullVerb() *cli.Command {
	return &cli.Command{
		Name:      "pull",
		Usage:     "read a message, or what a role has not read yet",
		ArgsUsage: "[ID | ptr:msg:ID | arkamsg://inbox/ROLE]",
		Description: "Read the message before acting on it. What was shown counts as read and is not\n" +
			"notified any more; --peek leaves it unread.\n\n" +
			"   arkamsg pull ptr:msg:01J8ZQ4…\n" +
			"   arkamsg pull --for PMO\n" +
			"   arkamsg pull arkamsg://inbox/PMO --json",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Usage: "the unread messages of `ROLE`, oldest first"},
			&cli.BoolFlag{Name: "peek", Usage: "do not mark as read"},
			&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"},
		},
		Action: func(c *cli.Context) error {
			pointer, err := pullPointer(c)
			if err != nil {
				return err
			}
			return p.working(c, func(room *notifyd.Mailroom) error { return p.pull(c, room, pointer) })
		},
	}
}

func pullPointer(c *cli.Context) (string, error) {
	switch {
	case c.IsSet("for") && c.NArg() == 0:
		return "arkamsg://inbox/" + c.String("for"), nil
	case !c.IsSet("for") && c.NArg() == 1:
		return c.Args().First(), nil
	}
	return "", errkind.New(errkind.Invalid, "name one message, or --for ROLE").WithHint("arkamsg pull --help")
}

func (p *program) pull(c *cli.Context, room *notifyd.Mailroom, pointer string) error {
	items, err := room.Pull(c.Context, pointer)
	if err != nil {
		return err
	}
	if len(items) == 0 && !c.Bool("json") {
		fmt.Fprintln(p.stderr, "nothing unread")
	}
	for i, item := range items {
		if err := p.showItem(item, c.Bool("json"), i > 0); err != nil {
			return err // not shown, so not read
		}
	}
	if c.Bool("peek") {
		return nil
	}
	return room.MarkRead(c.Context, items)
}

func (p *program) showItem(item notifyd.Item, asJSON, separate bool) error {
	if asJSON {
		v, err := itemJSON(item)
		if err != nil {
			return err
		}
		return p.printJSON(v)
	}
	if separate {
		fmt.Fprintln(p.stdout, "---")
	}
	if item.Envelope != nil {
		text, err := item.Envelope.JSON()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, plaintext.EscapeText(string(text)))
		return err
	}
	text, err := messaging.Encode(item.Message)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, plaintext.EscapeText(string(text)))
	return err
}

// pulled is the JSON of one message; its keys are those of the message file.
type pulled struct {
	MessageID messaging.ID     `json:"message_id"`
	TID       messaging.TID    `json:"tid,omitempty"`
	Type      messaging.Type   `json:"type,omitempty"`
	Status    messaging.Status `json:"status,omitempty"`
	From      messaging.Role   `json:"from,omitempty"`
	To        messaging.Role   `json:"to,omitempty"`
	RelatesTo messaging.ID     `json:"relates_to,omitempty"`
	Subject   string           `json:"sujet,omitempty"`
	Body      string           `json:"message,omitempty"`
	Links     *pulledLinks     `json:"links,omitempty"`
	Path      string           `json:"path,omitempty"`
	Thread    string           `json:"thread,omitempty"`
	Unread    bool             `json:"unread"`
	Envelope  json.RawMessage  `json:"envelope,omitempty"`
}

type pulledLinks struct {
	Attachments []string `json:"attachments,omitempty"`
	Output      []string `json:"output,omitempty"`
}

func itemJSON(it notifyd.Item) (pulled, error) {
	if it.Envelope != nil {
		body, err := it.Envelope.JSON()
		return pulled{MessageID: it.ID, Unread: it.Unread, Envelope: body}, err
	}
	m := it.Message
	v := pulled{
		MessageID: it.ID, TID: m.TID, Type: m.Type, Status: m.Status, From: m.From, To: m.To,
		RelatesTo: m.RelatesTo, Subject: m.Subject, Body: m.Body, Path: it.Path, Thread: it.Thread, Unread: it.Unread,
	}
	if len(m.Attachments)+len(m.Output) > 0 {
		v.Links = &pulledLinks{Attachments: m.Attachments, Output: m.Output}
	}
	return v, nil
}
