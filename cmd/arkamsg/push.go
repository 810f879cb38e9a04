package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

// pushOptions are the flags of push, one to one.
type pushOptions struct {
	draft     notifyd.Draft
	text      string
	hasText   bool
	dash      bool
	envelope  string
	chat      string
	sanitize  bool
	wait      time.Duration
	json      bool
	test      bool
	conflicts []string
}

func (p *program) pushVerb() *cli.Command {
	return &cli.Command{
		Name:      "push",
		Usage:     "send a message, an envelope or a chat line",
		ArgsUsage: "[-]",
		Description: "The text comes from --message, or from standard input when it is '-' or a pipe.\n" +
			"Works while no daemon runs: the message is kept and delivered later.\n\n" +
			"   arkamsg push --from LD --to PMO --subject \"plan\" --message \"ready to read\"\n" +
			"   make 2>&1 | arkamsg push --from LD --to PMO --subject \"build log\" --sanitize -\n" +
			"   arkamsg push --from PMO --to LD --type RESULT --relates-to ID --subject \"plan\" --message \"agreed\"\n" +
			"   arkamsg push --envelope batch.jsonl --json\n\n" +
			"Prints the message_id; with --wait the exit code tells the end: 0 delivered,\n" +
			"5 blocked, 6 still queued, 7 failed or indeterminate.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "`ROLE` that sends"},
			&cli.StringFlag{Name: "to", Usage: "`ROLE` that shall read it; exactly one"},
			&cli.StringFlag{Name: "subject", Usage: "clear title, one line"},
			&cli.StringFlag{Name: "message", Usage: "the `TEXT`; '-' reads standard input"},
			&cli.StringFlag{Name: "type", Value: "STATUS", Usage: "STATUS, RESULT or DECISION"},
			&cli.StringFlag{Name: "status", Usage: "TODO, IN_PROGRESS, BLOCKED or OBSOLETE (default: TODO for a STATUS)"},
			&cli.StringFlag{Name: "tid", Usage: "thread id `T-XXXXXX` (default: the thread's)"},
			&cli.StringFlag{Name: "relates-to", Usage: "`ID` of the message that this one answers"},
			&cli.StringFlag{Name: "thread", Usage: "folder `NAME` (default: that of --relates-to, else a new one)"},
			&cli.StringSliceFlag{Name: "attach", Usage: "`FILE` to copy into Attachments/; repeatable"},
			&cli.StringSliceFlag{Name: "output", Usage: "`PATH` of a deliverable to link, never copied; repeatable"},
			&cli.StringFlag{Name: "id", Usage: "idempotency key `ID`; the same id and content is sent once"},
			&cli.StringFlag{Name: "project", Usage: "`NAME` in the composed session (default: arka.yaml)"},
			&cli.StringFlag{Name: "provider", Usage: "`NAME` in the composed session (default: arka.yaml)"},
			&cli.StringFlag{Name: "prefix", Usage: "`NAME` in the composed session (default: arka.yaml)"},
			&cli.StringFlag{Name: "session", Usage: "tmux session `NAME`, used as it is"},
			&cli.BoolFlag{Name: "no-notify", Usage: "write the file, type nothing"},
			&cli.StringFlag{Name: "envelope", Usage: "notify v1 JSON from `FILE` or '-'; several lines are a batch"},
			&cli.StringFlag{Name: "chat", Usage: "the chat `LINE` of ARKA §2"},
			&cli.BoolFlag{Name: "sanitize", Usage: "turn characters that may not be sent into visible escapes"},
			&cli.DurationFlag{Name: "wait", Usage: "wait that long for the end, e.g. 30s"},
			&cli.BoolFlag{Name: "json", Usage: "print the receipt as JSON"},
			&cli.BoolFlag{Name: "test", Usage: "mark as a test: kept out of inboxes and counters", Hidden: true},
		},
		Action: func(c *cli.Context) error {
			o, err := p.pushOptions(c)
			if err != nil {
				return err
			}
			return p.working(c, func(room *notifyd.Mailroom) error { return p.push(c.Context, room, o) })
		},
	}
}

func (p *program) pushOptions(c *cli.Context) (pushOptions, error) {
	o := pushOptions{
		text: c.String("message"), hasText: c.IsSet("message"), envelope: c.String("envelope"), chat: c.String("chat"),
		sanitize: c.Bool("sanitize"), wait: c.Duration("wait"), json: c.Bool("json"), test: c.Bool("test"),
	}
	switch args := c.Args().Slice(); {
	case len(args) == 1 && args[0] == "-":
		o.dash = true
	case len(args) > 0:
		return o, errkind.New(errkind.Invalid, "%q was not expected; quote the text and give it with --message", args[0]).
			WithHint("arkamsg push --help")
	}
	if o.hasText && o.text == "-" {
		o.text, o.hasText, o.dash = "", false, true
	}
	d := &o.draft
	d.Message = messaging.Message{
		From: messaging.Role(c.String("from")), To: messaging.Role(c.String("to")), Subject: c.String("subject"),
		Type: messaging.Type(c.String("type")), Status: messaging.Status(c.String("status")),
		TID: messaging.TID(c.String("tid")), RelatesTo: messaging.ID(c.String("relates-to")),
		Output: c.StringSlice("output"), MessageID: messaging.ID(c.String("id")),
	}
	d.Thread = c.String("thread")
	for _, name := range c.StringSlice("attach") {
		full, err := filepath.Abs(name) // whoever finishes this push after a kill lives elsewhere
		if err != nil {
			return o, err
		}
		d.AttachFiles = append(d.AttachFiles, full)
	}
	d.Project, d.Provider, d.Prefix = c.String("project"), c.String("provider"), c.String("prefix")
	d.Session, d.NoNotify, d.Test = c.String("session"), c.Bool("no-notify"), o.test
	for _, name := range messageFlags {
		if c.IsSet(name) {
			o.conflicts = append(o.conflicts, "--"+name)
		}
	}
	return o, nil
}

// messageFlags describe a message; an envelope or a chat line says it all itself.
var messageFlags = []string{"from", "to", "subject", "message", "type", "status", "tid", "relates-to",
	"thread", "attach", "output", "id", "project", "provider", "prefix", "session", "no-notify"}

func (p *program) push(ctx context.Context, room *notifyd.Mailroom, o pushOptions) error {
	if o.envelope == "" && o.chat == "" {
		return p.pushMessage(ctx, room, o)
	}
	if o.envelope != "" && o.chat != "" {
		o.conflicts = append(o.conflicts, "each other")
	}
	if len(o.conflicts) > 0 {
		return errkind.New(errkind.Invalid, "an envelope or a chat line stands alone, without %s",
			strings.Join(o.conflicts, ", ")).WithHint("arkamsg push --help")
	}
	var envs []messaging.Envelope
	var err error
	if o.chat != "" {
		envs, err = p.chatEnvelope(ctx, room, o)
	} else {
		envs, err = p.readEnvelopes(ctx, o.envelope)
	}
	if err != nil {
		return err
	}
	return p.pushEnvelopes(ctx, room, o, envs)
}

func (p *program) pushMessage(ctx context.Context, room *notifyd.Mailroom, o pushOptions) error {
	text, err := p.messageText(ctx, o)
	if err != nil {
		return err
	}
	msg := &o.draft.Message
	msg.Body = text
	if o.sanitize {
		msg.Body, msg.Subject = plaintext.Sanitize(plaintext.Normalize(text)), plaintext.EscapeLine(msg.Subject)
	}
	receipt, err := room.Send(ctx, o.draft)
	if err != nil {
		return asFlags(err)
	}
	return p.settle(ctx, room, o, []notifyd.Receipt{receipt})
}

// messageText is --message, or standard input when it was asked for or is not a
// keyboard.
func (p *program) messageText(ctx context.Context, o pushOptions) (string, error) {
	if o.hasText && !o.dash {
		return o.text, nil
	}
	if o.hasText {
		return "", errkind.New(errkind.Invalid, "the text was given twice: by --message and by '-'").
			WithHint("arkamsg push --help")
	}
	if !o.dash && terminal(p.stdin) {
		return "", errkind.New(errkind.Invalid, "the message has no text").
			WithHint("add --message TEXT, or '-' to type it and end with Ctrl-D")
	}
	text, err := io.ReadAll(io.LimitReader(p.input(ctx), messaging.MaxMessageBytes+1))
	if err != nil {
		return "", fmt.Errorf("standard input: %w", err)
	}
	return string(text), nil
}

func (p *program) chatEnvelope(ctx context.Context, room *notifyd.Mailroom, o pushOptions) ([]messaging.Envelope, error) {
	chat, err := messaging.ParseChat(o.chat)
	if err != nil {
		return nil, err
	}
	env, err := room.ChatEnvelope(ctx, chat, time.Now())
	return []messaging.Envelope{env}, err
}

// readEnvelopes reads one envelope per line, or a single one over several
// lines. All bad ones are reported at once, each with its line.
func (p *program) readEnvelopes(ctx context.Context, name string) ([]messaging.Envelope, error) {
	data, err := p.readInput(ctx, name)
	if err != nil {
		return nil, err
	}
	if one, err := messaging.ParseEnvelope(data); err == nil {
		return []messaging.Envelope{one}, nil
	} else if bytes.Count(bytes.TrimSpace(data), []byte("\n")) == 0 {
		return nil, err
	}
	bad := errkind.New(errkind.Invalid, "the batch was not sent").WithHint("correct the lines; nothing was kept")
	var envs []messaging.Envelope
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxBatch+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		e, err := messaging.ParseEnvelope(lines.Bytes())
		if err != nil {
			bad.Problems = append(bad.Problems, atLine(err, n)...)
		}
		envs = append(envs, e)
	}
	if err := lines.Err(); err != nil {
		return nil, errkind.New(errkind.Invalid, "the batch cannot be read").Wrap(err)
	}
	if len(bad.Problems) > 0 {
		return nil, bad
	}
	return envs, nil
}

// maxBatch bounds what --envelope reads.
const maxBatch = 64 << 20

func (p *program) readInput(ctx context.Context, name string) ([]byte, error) {
	in := p.input(ctx)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, errkind.New(errkind.NotFound, "cannot read the envelope").Wrap(err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBatch+1))
	if err == nil && len(data) > maxBatch {
		err = errkind.New(errkind.Invalid, "more than %d bytes of envelopes", maxBatch).WithHint("send them in parts")
	}
	return data, err
}

func atLine(err error, line int) []errkind.Problem {
	problems := errkind.Problems(err)
	if len(problems) == 0 {
		problems = []errkind.Problem{{Message: err.Error()}}
	}
	for i := range problems {
		problems[i].Line = line
	}
	return problems
}

// pushEnvelopes prints a receipt for each that was accepted. Refusals come last,
// and their exit code counts more than how the others ended.
func (p *program) pushEnvelopes(ctx context.Context, room *notifyd.Mailroom, o pushOptions, envs []messaging.Envelope) error {
	results, err := room.SendEnvelopes(ctx, envs, o.test)
	if err != nil {
		return err
	}
	var accepted []notifyd.Receipt
	var refused error
	for _, r := range results {
		if r.Err == nil {
			accepted = append(accepted, r.Receipt)
		}
		refused = errors.Join(refused, r.Err)
	}
	if err := p.settle(ctx, room, o, accepted); refused == nil || ctx.Err() != nil {
		return err
	}
	return refused
}

// settle prints the receipts, after waiting for all the ends if that was asked
// for. The exit code is that of the first bad end.
func (p *program) settle(ctx context.Context, room *notifyd.Mailroom, o pushOptions, receipts []notifyd.Receipt) error {
	patience, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	var bad error
	for _, r := range receipts {
		if o.wait > 0 {
			if err := p.await(patience, room, &r); err != nil {
				return err
			}
		}
		if err := p.printReceipt(r, o.json); err != nil {
			return err
		}
		if o.wait <= 0 {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.ending(r); bad == nil {
			bad = err
		}
	}
	return bad
}

// await brings the receipt up to date when its message has its end or ctx has.
func (p *program) await(ctx context.Context, room *notifyd.Mailroom, r *notifyd.Receipt) error {
	if r.State == journal.Delivered || r.State == journal.Failed {
		return nil
	}
	rec, err := room.Await(ctx, r.MessageID)
	if err == nil {
		r.State, r.Reason = rec.State, rec.Reason
	}
	return err
}

func (p *program) printReceipt(r notifyd.Receipt, asJSON bool) error {
	if asJSON {
		return p.printJSON(r)
	}
	p.printf("%s\n", r.MessageID)
	return nil
}

// ending is the exit code of --wait, with a word for people about a bad end.
func (p *program) ending(r notifyd.Receipt) error {
	switch {
	case r.State == journal.Delivered:
		return nil
	case r.State != journal.Failed:
		fmt.Fprintf(p.stderr, "arkamsg: %s is still %s\nNext: arkamsg show %s\n", r.MessageID, r.State, r.MessageID)
		return verdict(exitCodes[errkind.NotNow])
	}
	fmt.Fprintf(p.stderr, "arkamsg: %s was not delivered: %s\nNext: arkamsg show %s\n", r.MessageID, r.Reason, r.MessageID)
	if notifyd.Blocks(r.Reason) {
		return verdict(exitCodes[errkind.Refused])
	}
	return verdict(exitCodes[errkind.Damaged])
}

// flagNames are the flags behind the fields of a message file.
var flagNames = map[string]string{
	"from": "--from", "to": "--to", "sujet": "--subject", "message": "--message", "type": "--type",
	"status": "--status", "tid": "--tid", "relates_to": "--relates-to", "message_id": "--id",
	"links.attachments": "--attach", "links.output": "--output", "session": "--session",
	"project": "--project", "provider": "--provider", "session_prefix": "--prefix",
}

// asFlags names the flags where the keeper named the fields of the file.
func asFlags(err error) error {
	var e *errkind.Error
	if !errors.As(err, &e) {
		return err
	}
	for i, problem := range e.Problems {
		if strings.HasPrefix(problem.Message, "holds U+") {
			e.Hint = "add --sanitize to send such characters as visible escapes"
		}
		field, _, _ := strings.Cut(problem.Field, "[")
		if flag, ok := flagNames[field]; ok {
			e.Problems[i].Field = flag
		}
	}
	if e.Kind == errkind.Invalid && e.Hint == "" {
		e.Hint = "arkamsg push --help"
	}
	return err
}
