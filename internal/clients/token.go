package clients

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// DefaultTTL is how long a token lives when nothing else is said.
const DefaultTTL = 24 * time.Hour

// maxTTL bounds a token: what lives longer is a secret.
const maxTTL = 366 * 24 * time.Hour

// Grant is a fresh token.
type Grant struct {
	AccessToken Secret
	ExpiresIn   time.Duration
}

// Principal is who a request was made by.
type Principal struct {
	ClientID  string
	Kind      Kind
	MachineID string

	hash []byte // of the token: proof for Still, worthless to others
}

// ErrToken is the one answer to any credential that is not good: it does not
// tell what was wrong with it.
var ErrToken = errkind.New(errkind.Refused, "the token is missing, unknown, expired or revoked").WithHint("arkamsg client token ID")

// Token mints a token for a client without asking for its secret: for a person
// at the machine itself (arkamsg client token).
func (s *Store) Token(ctx context.Context, id string, ttl time.Duration) (g Grant, err error) {
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := live(tx, id); err != nil {
			return err
		}
		g, err = s.mint(tx, id, ttl)
		return err
	})
	return g, err
}

// Exchange gives a token for a client's own secret (client credentials).
func (s *Store) Exchange(ctx context.Context, id, secret string, ttl time.Duration) (g Grant, err error) {
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		kept := make([]byte, 32) // compared even when there is no such client
		err := tx.QueryRow(`SELECT secret FROM clients_client WHERE id = ? AND revoked_at = 0`, id).Scan(&kept)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !same(kept, hash(secret)) {
			return ErrToken
		}
		g, err = s.mint(tx, id, ttl)
		return err
	})
	return g, err
}

// mint adds a token and sweeps those that expired long ago.
func (s *Store) mint(tx *sqlite.Tx, id string, ttl time.Duration) (Grant, error) {
	if ttl == 0 {
		ttl = DefaultTTL
	}
	if ttl < time.Second || ttl > maxTTL {
		return Grant{}, errkind.New(errkind.Invalid, "a token lives between 1s and %s", maxTTL)
	}
	g := Grant{AccessToken: newSecret(tokenPrefix), ExpiresIn: ttl}
	now := s.now()
	if _, err := tx.Exec(`DELETE FROM clients_token WHERE expires_at < ?`, now.Add(-30*24*time.Hour).UnixMilli()); err != nil {
		return Grant{}, err
	}
	_, err := tx.Exec(`INSERT INTO clients_token(hash, client_id, issued_at, expires_at) VALUES(?,?,?,?)`,
		hash(g.AccessToken.Reveal()), id, now.UnixMilli(), now.Add(ttl).UnixMilli())
	return g, err
}

// Authenticate tells who a bearer token belongs to. ErrToken.
func (s *Store) Authenticate(ctx context.Context, bearer string) (p Principal, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		p, err = s.principal(tx, hash(bearer))
		return err
	})
	return p, err
}

// Still repeats the authentication inside the caller's transaction, so that a
// revocation and the caller's write cannot pass each other. ErrToken.
func (s *Store) Still(tx *sqlite.Tx, p Principal) error {
	_, err := s.principal(tx, p.hash)
	return err
}

func (s *Store) principal(tx *sqlite.Tx, h []byte) (Principal, error) {
	p := Principal{}
	err := tx.QueryRow(`SELECT t.hash, c.id, c.kind, c.machine_id FROM clients_token t JOIN clients_client c ON c.id = t.client_id
		WHERE t.hash = ? AND t.revoked_at = 0 AND c.revoked_at = 0 AND t.expires_at > ?`, h, s.now().UnixMilli()).
		Scan(&p.hash, &p.ClientID, &p.Kind, &p.MachineID)
	if errors.Is(err, sql.ErrNoRows) {
		return Principal{}, ErrToken
	}
	if err == nil && !same(p.hash, h) {
		return Principal{}, ErrToken
	}
	return p, err
}
