package clients_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/clients"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

func open(t *testing.T) (*clients.Store, *sqlite.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Sync: "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := clients.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return s, db, path
}

func add(t *testing.T, s *clients.Store) (clients.Client, clients.Secret) {
	t.Helper()
	c, secret, err := s.Add(t.Context(), clients.New{Name: "poste 1", Kind: clients.Machine, MachineID: "M1"})
	if err != nil {
		t.Fatal(err)
	}
	return c, secret
}

func TestTokenOpensUntilRevoked(t *testing.T) {
	for name, end := range map[string]func(*clients.Store, context.Context, string) error{
		"revoke":     (*clients.Store).Revoke,
		"end tokens": (*clients.Store).EndTokens,
		"rotate": func(s *clients.Store, ctx context.Context, id string) error {
			_, err := s.Rotate(ctx, id)
			return err
		},
	} {
		s, db, _ := open(t)
		c, _ := add(t, s)
		g, err := s.Token(t.Context(), c.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Authenticate(t.Context(), g.AccessToken.Reveal())
		if err != nil || p.MachineID != "M1" || p.ClientID != c.ID || p.Kind != clients.Machine {
			t.Fatalf("%s: %+v %v", name, p, err)
		}
		if err := end(s, t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(t.Context(), g.AccessToken.Reveal()); !errors.Is(err, clients.ErrToken) {
			t.Errorf("%s: still opens: %v", name, err)
		}
		err = db.Write(t.Context(), func(tx *sqlite.Tx) error { return s.Still(tx, p) })
		if !errors.Is(err, clients.ErrToken) {
			t.Errorf("%s: a write of the principal is still let through: %v", name, err)
		}
	}
}

func TestExchangeWantsTheSecret(t *testing.T) {
	s, _, _ := open(t)
	c, secret := add(t, s)
	if _, err := s.Exchange(t.Context(), c.ID, secret.Reveal(), time.Minute); err != nil {
		t.Fatal(err)
	}
	renewed, err := s.Rotate(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][2]string{{c.ID, secret.Reveal()}, {c.ID, ""}, {"c-none", renewed.Reveal()}, {"", ""}} {
		if _, err := s.Exchange(t.Context(), wrong[0], wrong[1], 0); !errors.Is(err, clients.ErrToken) {
			t.Errorf("%q opens: %v", wrong[0], err)
		}
	}
	if err := s.Revoke(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exchange(t.Context(), c.ID, renewed.Reveal(), 0); !errors.Is(err, clients.ErrToken) {
		t.Errorf("a revoked client opens: %v", err)
	}
	if _, err := s.Token(t.Context(), c.ID, 0); errkind.Of(err) != errkind.Refused {
		t.Errorf("a revoked client gets a token: %v", err)
	}
}

func TestNothingOpensByAccident(t *testing.T) {
	s, _, _ := open(t)
	_, secret := add(t, s)
	for _, bearer := range []string{"", "x", secret.Reveal(), strings.Repeat("a", 10_000)} {
		if _, err := s.Authenticate(t.Context(), bearer); !errors.Is(err, clients.ErrToken) {
			t.Errorf("opens: %v", err)
		}
	}
}

// TestSecretsAreNowhere reads every file of the database.
func TestSecretsAreNowhere(t *testing.T) {
	s, _, path := open(t)
	c, secret := add(t, s)
	g, _ := s.Token(t.Context(), c.ID, 0)
	if err := s.AddUser(t.Context(), "dom", "correct horse battery", true); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, clear := range []string{secret.Reveal(), g.AccessToken.Reveal(), "correct horse"} {
			if strings.Contains(string(data), clear) {
				t.Errorf("%s holds a secret in the clear", filepath.Base(file))
			}
		}
	}
	if shown := fmt.Sprintf("%v %s %#v %+v", secret, secret, secret, g); strings.Contains(shown, secret.Reveal()) || strings.Contains(shown, g.AccessToken.Reveal()) {
		t.Errorf("a secret prints itself: %s", shown)
	}
	if len(secret.Reveal()) < 5+43 {
		t.Error("a secret has fewer than 32 bytes")
	}
}

func TestAddListsAllProblems(t *testing.T) {
	s, _, _ := open(t)
	_, _, err := s.Add(t.Context(), clients.New{Name: " ", Kind: clients.Machine})
	if errkind.Of(err) != errkind.Invalid || len(errkind.Problems(err)) != 2 {
		t.Errorf("%v", err)
	}
	if _, _, err := s.Add(t.Context(), clients.New{Name: "x", Kind: clients.Agent, MachineID: "M"}); err == nil {
		t.Error("an agent has no machine")
	}
	if _, err := s.Get(t.Context(), "c-none"); errkind.Of(err) != errkind.NotFound {
		t.Error(err)
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

func TestUsers(t *testing.T) {
	s, _, _ := open(t)
	const old, fresh = "correct horse battery", "another long password"
	if err := s.AddUser(t.Context(), "dom", old, true); err != nil {
		t.Fatal(err)
	}
	if err := s.AddUser(t.Context(), "dom", old, false); errkind.Of(err) != errkind.Conflict {
		t.Errorf("twice: %v", err)
	}
	g, err := s.Login(t.Context(), "dom", old, 0)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := s.Session(t.Context(), g.AccessToken.Reveal()); err != nil || !u.Admin || u.Name != "dom" {
		t.Errorf("%+v %v", u, err)
	}
	if err := s.SetPassword(t.Context(), "dom", fresh); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), g.AccessToken.Reveal()); !errors.Is(err, clients.ErrToken) {
		t.Error("a session outlives the password")
	}
	for _, wrong := range [][2]string{{"dom", old}, {"nobody", fresh}, {"dom", ""}} {
		if _, err := s.Login(t.Context(), wrong[0], wrong[1], 0); !errors.Is(err, clients.ErrLogin) {
			t.Errorf("%v logs in: %v", wrong, err)
		}
	}
	if g, err = s.Login(t.Context(), "dom", fresh, 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Logout(t.Context(), g.AccessToken.Reveal()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), g.AccessToken.Reveal()); !errors.Is(err, clients.ErrToken) {
		t.Error("logged out and still in")
	}
}
