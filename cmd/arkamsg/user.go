package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"arkamsg/internal/clients"
	"arkamsg/internal/errkind"
)

func (p *program) userVerb() *cli.Command {
	return &cli.Command{
		Name:        "user",
		Usage:       "people who log in",
		Description: "The password is asked for on the terminal, or read from standard input.",
		Subcommands: []*cli.Command{
			{
				Name: "add", Usage: "a new person", ArgsUsage: "NAME",
				Flags: []cli.Flag{&cli.BoolFlag{Name: "admin", Usage: "may administer"}},
				Action: p.onUser(func(c *cli.Context, s *clients.Store, name, password string) error {
					return s.AddUser(c.Context, name, password, c.Bool("admin"))
				}),
			},
			{
				Name: "passwd", Usage: "another password; open logins end", ArgsUsage: "NAME",
				Action: p.onUser(func(c *cli.Context, s *clients.Store, name, password string) error {
					return s.SetPassword(c.Context, name, password)
				}),
			},
		},
	}
}

func (p *program) onUser(fn func(*cli.Context, *clients.Store, string, string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		name, err := oneArgument(c, "name")
		if err != nil {
			return err
		}
		password, err := p.password(c.Context)
		if err != nil {
			return err
		}
		return p.onClients(func(c *cli.Context, s *clients.Store) error { return fn(c, s, name, password) })(c)
	}
}

// password is typed twice without echo on a terminal, else the first line of
// standard input.
func (p *program) password(ctx context.Context) (string, error) {
	if !terminal(p.stdin) {
		line, err := bufio.NewReader(io.LimitReader(p.input(ctx), 4096)).ReadString('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	first, err := p.askHidden(ctx, "Password: ")
	if err != nil {
		return "", err
	}
	second, err := p.askHidden(ctx, "Again: ")
	if err == nil && first != second {
		err = errkind.New(errkind.Invalid, "the two passwords differ")
	}
	return first, err
}

// askHidden reads without echo. Ctrl-C gives the terminal its echo back.
func (p *program) askHidden(ctx context.Context, prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(p.stderr, prompt)
	defer fmt.Fprintln(p.stderr)
	type result struct {
		typed []byte
		err   error
	}
	done := make(chan result, 1)
	go func() {
		typed, err := term.ReadPassword(fd)
		done <- result{typed, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	case r := <-done:
		return string(r.typed), r.err
	}
}
