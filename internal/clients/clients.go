package clients

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"strings"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
	"arkamsg/internal/sqlite"
)

//go:embed schema/*.sql
var schema embed.FS

// Kind says what a client is.
type Kind string

// The kinds of CONTRACT.md.
const (
	Agent   Kind = "agent"   // a processing agent (jobs)
	Machine Kind = "machine" // a machine that learns competences; bound to its id
	MCP     Kind = "mcp"     // a tool server
)

// Client is a program that may speak to the door.
type Client struct {
	ID        string    `json:"client_id"`
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	MachineID string    `json:"machine_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	RotatedAt time.Time `json:"rotated_at,omitzero"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// Store keeps clients and users in the journal's database.
type Store struct {
	db  *sqlite.DB
	now func() time.Time
}

// Open brings the tables up to date.
func Open(ctx context.Context, db *sqlite.DB) (*Store, error) {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return nil, err
	}
	return &Store{db: db, now: time.Now}, db.Migrate(ctx, "clients", files)
}

// New is what Add takes.
type New struct {
	Name      string
	Kind      Kind
	MachineID string // kind machine only
}

// Add registers a client and returns its secret, the only time it is seen.
func (s *Store) Add(ctx context.Context, n New) (Client, Secret, error) {
	if err := n.validate(); err != nil {
		return Client{}, "", err
	}
	c := Client{ID: newID(), Name: n.Name, Kind: n.Kind, MachineID: n.MachineID, CreatedAt: s.now().UTC()}
	secret := newSecret(secretPrefix)
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO clients_client(id, name, kind, machine_id, secret, created_at) VALUES(?,?,?,?,?,?)`,
			c.ID, c.Name, string(c.Kind), c.MachineID, hash(secret.Reveal()), c.CreatedAt.UnixMilli())
		return err
	})
	if err != nil {
		return Client{}, "", err
	}
	return c, secret, nil
}

func (n New) validate() error {
	var problems []errkind.Problem
	add := func(field, message string) {
		problems = append(problems, errkind.Problem{Field: field, Message: message})
	}
	if strings.TrimSpace(n.Name) == "" || len(n.Name) > 200 || plaintext.CheckLine(n.Name) != nil {
		add("--name", "must be a line of 1 to 200 printable characters")
	}
	switch n.Kind {
	case Agent, MCP:
		if n.MachineID != "" {
			add("--machine", "is for --kind machine only")
		}
	case Machine:
		if n.MachineID == "" || len(n.MachineID) > 200 || plaintext.CheckLine(n.MachineID) != nil {
			add("--machine", "a machine needs its id, a line of 1 to 200 printable characters")
		}
	default:
		add("--kind", "must be agent, machine or mcp")
	}
	if len(problems) == 0 {
		return nil
	}
	return errkind.New(errkind.Invalid, "this client cannot be added").WithProblems(problems...)
}

const clientColumns = `SELECT id, name, kind, machine_id, created_at, rotated_at, revoked_at FROM clients_client`

type scanner interface{ Scan(...any) error }

func scanClient(row scanner) (c Client, err error) {
	var created, rotated, revoked int64
	err = row.Scan(&c.ID, &c.Name, &c.Kind, &c.MachineID, &created, &rotated, &revoked)
	c.CreatedAt, c.RotatedAt, c.RevokedAt = wall(created), wall(rotated), wall(revoked)
	return c, err
}

func wall(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// List returns every client, revoked ones too, in the order of their making.
func (s *Store) List(ctx context.Context) (out []Client, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		out = nil
		rows, err := tx.Query(clientColumns + ` ORDER BY created_at, id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			c, err := scanClient(rows)
			if err != nil {
				return err
			}
			out = append(out, c)
		}
		return rows.Err()
	})
	return out, err
}

// Get returns one client. NotFound.
func (s *Store) Get(ctx context.Context, id string) (c Client, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		c, err = scanClient(tx.QueryRow(clientColumns+` WHERE id = ?`, id))
		return unknown(id, err)
	})
	return c, err
}

func unknown(id string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errkind.New(errkind.NotFound, "no client %q", id).WithHint("arkamsg client list")
	}
	return err
}

// Rotate gives a client a new secret; the old one and every token end with it.
func (s *Store) Rotate(ctx context.Context, id string) (Secret, error) {
	secret := newSecret(secretPrefix)
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := live(tx, id); err != nil {
			return err
		}
		now := s.now().UnixMilli()
		if _, err := tx.Exec(`UPDATE clients_client SET secret = ?, rotated_at = ? WHERE id = ?`, hash(secret.Reveal()), now, id); err != nil {
			return err
		}
		return endTokens(tx, id, now)
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Revoke ends a client and its tokens, at once and for ever. Again is no error.
func (s *Store) Revoke(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if _, err := scanClient(tx.QueryRow(clientColumns+` WHERE id = ?`, id)); err != nil {
			return unknown(id, err)
		}
		now := s.now().UnixMilli()
		if _, err := tx.Exec(`UPDATE clients_client SET revoked_at = ? WHERE id = ? AND revoked_at = 0`, now, id); err != nil {
			return err
		}
		return endTokens(tx, id, now)
	})
}

// EndTokens revokes the tokens of a client and leaves its secret alone.
func (s *Store) EndTokens(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := live(tx, id); err != nil {
			return err
		}
		return endTokens(tx, id, s.now().UnixMilli())
	})
}

func endTokens(tx *sqlite.Tx, id string, now int64) error {
	_, err := tx.Exec(`UPDATE clients_token SET revoked_at = ? WHERE client_id = ? AND revoked_at = 0`, now, id)
	return err
}

func live(tx *sqlite.Tx, id string) error {
	c, err := scanClient(tx.QueryRow(clientColumns+` WHERE id = ?`, id))
	if err != nil {
		return unknown(id, err)
	}
	if !c.RevokedAt.IsZero() {
		return errkind.New(errkind.Refused, "client %q is revoked", id).WithHint("arkamsg client add")
	}
	return nil
}
