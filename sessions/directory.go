package sessions

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"arkamsg/internal/errkind"
)

// Allow is the allow-list: the only sessions ever typed into, by role.
type Allow map[Role][]Name

// Directory turns what an envelope says into a session (ARKA §10).
type Directory struct {
	Allow    Allow
	Aliases  map[string]Role // technical id → role (ARKA §11)
	Project  string
	Prefix   string
	Provider string
	Profiles []string // known provider names; nil: the built-in ones
}

// Request is the part of an envelope that names the receiver. Empty fields take
// the directory's values.
type Request struct {
	ToAgent, Session, Project, Provider, Prefix string
}

// Address is where a message goes.
type Address struct {
	Role     Role
	Session  Name
	Provider string // names the profile
}

// ErrNotAllowed: the session is not in the allow-list. Refused.
var ErrNotAllowed = errors.New("not in the allow-list")

// RoleOf maps an alias to its role; any other id is a role already.
func (d Directory) RoleOf(id string) Role {
	if r, ok := d.Aliases[id]; ok {
		return r
	}
	return Role(id)
}

// Allowed returns the role that the session is allowed for. A session of several
// roles belongs to the first in alphabetical order.
func (d Directory) Allowed(n Name) (Role, bool) {
	for _, role := range slices.Sorted(maps.Keys(d.Allow)) {
		if slices.Contains(d.Allow[role], n) {
			return role, true
		}
	}
	return "", false
}

// Address resolves a request. A given session is used as it is; otherwise the
// name is composed as "<prefix>-<project>-<role>-<provider>", after aliases. A
// role with exactly one allowed session means that one, unless the request
// itself overrides a part of the name.
func (d Directory) Address(r Request) (Address, error) {
	a := Address{Role: d.RoleOf(r.ToAgent), Session: Name(r.Session), Provider: r.Provider}
	if r.Session == "" {
		if r.ToAgent == "" {
			return Address{}, errkind.New(errkind.Invalid, "a session or a role is needed")
		}
		a.Session = d.compose(a.Role, r)
	}
	if a.Role == "" {
		a.Role, _ = d.Allowed(a.Session)
	}
	if !slices.Contains(d.Allow[a.Role], a.Session) {
		return a, errkind.New(errkind.Refused, "session %q is not allowed for %q", string(a.Session), string(a.Role)).Wrap(ErrNotAllowed).
			WithHint("add it in arka.yaml under allow: {%s: [%s]}", a.Role, a.Session)
	}
	if a.Provider == "" {
		a.Provider = d.providerOf(a.Session)
	}
	return a, nil
}

func (d Directory) compose(role Role, r Request) Name {
	or := func(v, def string) string {
		if v == "" {
			return def
		}
		return v
	}
	name := Name(strings.Join([]string{or(r.Prefix, d.Prefix), or(r.Project, d.Project), string(role), or(r.Provider, d.Provider)}, "-"))
	overridden := r.Project != "" || r.Provider != "" || r.Prefix != ""
	if only := d.Allow[role]; !overridden && len(only) == 1 {
		return only[0]
	}
	return name
}

// providerOf reads the provider from the end of a session's name, where ARKA §10
// puts it; a name that ends otherwise runs the default provider.
func (d Directory) providerOf(n Name) string {
	known := d.Profiles
	if known == nil {
		known = []string{"codex", "claude", "gemini", "opencode", fallback}
	}
	for _, p := range known {
		if strings.HasSuffix(string(n), "-"+p) {
			return p
		}
	}
	return d.Provider
}
