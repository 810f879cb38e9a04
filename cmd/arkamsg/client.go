package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/clients"
	"arkamsg/notifyd"
)

func (p *program) clientVerb() *cli.Command {
	return &cli.Command{
		Name:  "client",
		Usage: "programs that may speak to the daemon over HTTP",
		Description: "   arkamsg client add --name laptop --kind machine --machine DESKTOP-1\n" +
			"   arkamsg client token ID      a token, minted without the network\n\n" +
			"A secret is shown once, when it is made; only its hash is kept.",
		Subcommands: []*cli.Command{
			{
				Name: "add", Usage: "make a client and show its secret, once",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "name", Usage: "`NAME` for people", Required: true},
					&cli.StringFlag{Name: "kind", Usage: "agent, machine or mcp", Required: true},
					&cli.StringFlag{Name: "machine", Usage: "the machine's `ID`, for kind machine"},
					jsonFlag("one JSON object"),
				},
				Action: p.onClients(func(c *cli.Context, s *clients.Store) error { return p.clientAdd(c, s) }),
			},
			{
				Name: "list", Usage: "all clients", Flags: []cli.Flag{jsonFlag("one JSON object per line")},
				Action: p.onClients(func(c *cli.Context, s *clients.Store) error { return p.clientList(c, s) }),
			},
			{
				Name: "token", Usage: "mint a token without the network", ArgsUsage: "ID",
				Flags: []cli.Flag{
					&cli.DurationFlag{Name: "ttl", Usage: "how long it lives", Value: clients.DefaultTTL},
					jsonFlag("one JSON object"),
				},
				Action: p.onClients(func(c *cli.Context, s *clients.Store) error { return p.clientToken(c, s) }),
			},
			{
				Name: "rotate", Usage: "a new secret; the old one ends at once", ArgsUsage: "ID", Flags: []cli.Flag{jsonFlag("one JSON object")},
				Action: p.onClients(func(c *cli.Context, s *clients.Store) error { return p.clientRotate(c, s) }),
			},
			{
				Name: "revoke", Usage: "end the client and its tokens at once", ArgsUsage: "ID",
				Action: p.onClients(func(c *cli.Context, s *clients.Store) error {
					id, err := oneArgument(c, "client_id")
					if err != nil {
						return err
					}
					return s.Revoke(c.Context, id)
				}),
			},
		},
	}
}

func jsonFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "json", Usage: usage} }

func (p *program) onClients(fn func(*cli.Context, *clients.Store) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		return p.working(c, func(room *notifyd.Mailroom) error {
			store, err := clients.Open(c.Context, room.Journal.DB())
			if err != nil {
				return err
			}
			return fn(c, store)
		})
	}
}

// credentials is the only form in which a secret is ever shown.
type credentials struct {
	ClientID  string `json:"client_id"`
	SecretKey string `json:"secret_key"`
}

func (p *program) clientAdd(c *cli.Context, s *clients.Store) error {
	client, secret, err := s.Add(c.Context, clients.New{
		Name: c.String("name"), Kind: clients.Kind(c.String("kind")), MachineID: c.String("machine"),
	})
	if err != nil {
		return err
	}
	return p.showSecret(c, client.ID, secret)
}

func (p *program) clientRotate(c *cli.Context, s *clients.Store) error {
	id, err := oneArgument(c, "client_id")
	if err != nil {
		return err
	}
	secret, err := s.Rotate(c.Context, id)
	if err != nil {
		return err
	}
	return p.showSecret(c, id, secret)
}

func (p *program) showSecret(c *cli.Context, id string, secret clients.Secret) error {
	if c.Bool("json") {
		return p.printJSON(credentials{id, secret.Reveal()})
	}
	p.printf("client_id   %s\nsecret_key  %s   (shown once)\n", id, secret.Reveal())
	return nil
}

func (p *program) clientToken(c *cli.Context, s *clients.Store) error {
	id, err := oneArgument(c, "client_id")
	if err != nil {
		return err
	}
	grant, err := s.Token(c.Context, id, c.Duration("ttl"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return p.printJSON(struct {
			AccessToken string `json:"access_token"`
			TokenType   string `json:"token_type"`
			ExpiresIn   int64  `json:"expires_in"` // seconds
		}{grant.AccessToken.Reveal(), "Bearer", int64(grant.ExpiresIn / time.Second)})
	}
	p.printf("%s\n", grant.AccessToken.Reveal())
	return nil
}

func (p *program) clientList(c *cli.Context, s *clients.Store) error {
	list, err := s.List(c.Context)
	if err != nil {
		return err
	}
	t := newTable(p.stdout)
	for _, client := range list {
		if c.Bool("json") {
			if err := p.printJSON(client); err != nil {
				return err
			}
			continue
		}
		state := "active"
		if !client.RevokedAt.IsZero() {
			state = "revoked"
		}
		t.row(client.ID, client.Name, client.Kind, client.MachineID, state)
	}
	return t.flush()
}
