package clients

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

// User is a person who logs in.
type User struct {
	Name      string    `json:"name"`
	Admin     bool      `json:"admin"`
	CreatedAt time.Time `json:"created_at"`
}

var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// Bounds of a password, in bytes. The upper one keeps hashing cheap.
const (
	minPassword = 12
	maxPassword = 1024
)

// AddUser registers a person. Conflict if the name is taken.
func (s *Store) AddUser(ctx context.Context, name, password string, admin bool) error {
	if !userName.MatchString(name) {
		return errkind.New(errkind.Invalid, "a user name has 1 to 64 letters, digits and ._@-")
	}
	kept, err := hashPassword(password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		now := s.now().UnixMilli()
		res, err := tx.Exec(`INSERT INTO clients_user(name, password, admin, created_at, changed_at) VALUES(?,?,?,?,?) ON CONFLICT DO NOTHING`,
			name, kept, admin, now, now)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errkind.New(errkind.Conflict, "user %q exists", name).WithHint("arkamsg user passwd %s", name))
		}
		return nil
	})
}

// SetPassword changes a password and ends every session of the user.
func (s *Store) SetPassword(ctx context.Context, name, password string) error {
	kept, err := hashPassword(password)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		res, err := tx.Exec(`UPDATE clients_user SET password = ?, changed_at = ? WHERE name = ?`, kept, s.now().UnixMilli(), name)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errkind.New(errkind.NotFound, "no user %q", name).WithHint("arkamsg user add %s", name))
		}
		_, err = tx.Exec(`DELETE FROM clients_session WHERE user = ?`, name)
		return err
	})
}

// ErrLogin does not tell a wrong name from a wrong password.
var ErrLogin = errkind.New(errkind.Refused, "unknown user or wrong password")

// Login checks a password and opens a session. ErrLogin.
func (s *Store) Login(ctx context.Context, name, password string, ttl time.Duration) (Grant, error) {
	kept := decoy
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT password FROM clients_user WHERE name = ?`, name).Scan(&kept)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Grant{}, err
	}
	if len(password) > maxPassword || !checkPassword(kept, password) || err != nil {
		return Grant{}, ErrLogin
	}
	return s.openSession(ctx, name, kept, ttl)
}

func (s *Store) openSession(ctx context.Context, name, kept string, ttl time.Duration) (g Grant, err error) {
	if ttl == 0 {
		ttl = DefaultTTL
	}
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		g = Grant{AccessToken: newSecret(sessionPrefix), ExpiresIn: ttl}
		now := s.now()
		if _, err := tx.Exec(`DELETE FROM clients_session WHERE expires_at < ?`, now.UnixMilli()); err != nil {
			return err
		}
		// the password as it was checked: one changed meanwhile opens nothing
		res, err := tx.Exec(`INSERT INTO clients_session(hash, user, issued_at, expires_at)
			SELECT ?, name, ?, ? FROM clients_user WHERE name = ? AND password = ?`,
			hash(g.AccessToken.Reveal()), now.UnixMilli(), now.Add(ttl).UnixMilli(), name, kept)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrLogin)
		}
		return nil
	})
	return g, err
}

// Session tells whose session a bearer is. ErrToken.
func (s *Store) Session(ctx context.Context, bearer string) (u User, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		var created int64
		err := tx.QueryRow(`SELECT u.name, u.admin, u.created_at FROM clients_session s JOIN clients_user u ON u.name = s.user
			WHERE s.hash = ? AND s.expires_at > ?`, hash(bearer), s.now().UnixMilli()).Scan(&u.Name, &u.Admin, &created)
		u.CreatedAt = wall(created)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrToken
		}
		return err
	})
	return u, err
}

// Logout ends a session. One that is not there has ended.
func (s *Store) Logout(ctx context.Context, bearer string) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`DELETE FROM clients_session WHERE hash = ?`, hash(bearer))
		return err
	})
}

// argon2id with the second recommendation of RFC 9106 (64 MiB would be felt on
// a small machine; 19 MiB and two passes is OWASP's floor).
const (
	argonTime   = 2
	argonMemory = 19 << 10 // KiB
	argonKey    = 32
)

// decoy is hashed against when there is no such user, so that both take as long.
var decoy = "argon2id$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func hashPassword(password string) (string, error) {
	if len(password) < minPassword || len(password) > maxPassword {
		return "", errkind.New(errkind.Invalid, "a password has %d to %d bytes", minPassword, maxPassword)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	key := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, 1, argonKey)
	enc := base64.RawStdEncoding
	return fmt.Sprintf("argon2id$%s$%s", enc.EncodeToString(salt), enc.EncodeToString(key)), nil
}

func checkPassword(kept, password string) bool {
	parts := strings.Split(kept, "$")
	if len(parts) != 3 || parts[0] != "argon2id" {
		return false
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[1])
	key, err2 := base64.RawStdEncoding.DecodeString(parts[2])
	got := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, 1, argonKey)
	return err1 == nil && err2 == nil && same(key, got)
}
