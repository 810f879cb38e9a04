package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/sessions"
)

// Validate lists everything that is wrong with the file, in the order of
// arka.yaml. The problems carry no line: [Parse], which knows the text, adds it.
func (f *File) Validate() []errkind.Problem {
	var c check
	c.head(f)
	c.tmux(f.Tmux)
	c.messaging(f.Messaging)
	c.allow(f.Allow)
	c.aliases(f.Aliases)
	c.policy(f.Policy)
	c.providers(f.Providers)
	c.keeping(f)
	c.listen(f.HTTP.Listen)
	c.jobs(f.Jobs)
	c.persist(f.Persist)
	c.externalAgents(f.ExternalAgents)
	return c
}

// check gathers problems; each method looks at one section.
type check []errkind.Problem

func (c *check) add(field, format string, args ...any) {
	*c = append(*c, errkind.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// name holds the grammar of roles, ids, projects and providers.
func (c *check) name(field, s string) {
	if !validName(s) {
		c.add(field, "%q is not a name: letters, digits and ._- after a first letter or digit, at most 64", s)
	}
}

func (c *check) oneOf(field, s string, allowed ...string) {
	if !slices.Contains(allowed, s) {
		c.add(field, "%q is not one of %s", s, strings.Join(allowed, ", "))
	}
}

func (c *check) count(field string, n, low, high int) {
	if n < low || n > high {
		c.add(field, "%d is not between %d and %d", n, low, high)
	}
}

func (c *check) duration(field string, d, low, high time.Duration) {
	if d < low || d > high {
		c.add(field, "%v is not between %v and %v", d, low, high)
	}
}

func (c *check) head(f *File) {
	if f.Version != 1 {
		c.add("version", "%d is not known; this arkamsg reads version 1", f.Version)
	}
	c.name("project", f.Project)
	c.name("session_prefix", f.SessionPrefix)
	c.name("provider", f.Provider)
}

func (c *check) tmux(t Tmux) {
	if t.SocketName != "" && t.SocketPath != "" {
		c.add("tmux", "socket_name and socket_path exclude each other")
	}
	if strings.ContainsRune(t.SocketName, '/') || pathProblem(t.SocketName) != "" {
		c.add("tmux.socket_name", "%q is not a name; a path goes into tmux.socket_path", t.SocketName)
	}
	if t.SocketPath != "" && !filepath.IsAbs(t.SocketPath) || pathProblem(t.SocketPath) != "" {
		c.add("tmux.socket_path", "%q is not an absolute path", t.SocketPath)
	}
}

func (c *check) messaging(m Messaging) {
	switch {
	case m.Root == "" || pathProblem(m.Root) != "":
		c.add("messaging.root", "%q is not a folder", m.Root)
	case !filepath.IsAbs(m.Root) && !filepath.IsLocal(m.Root):
		c.add("messaging.root", "%q leaves the home; give an absolute path if that is meant", m.Root)
	}
}

// allow wants each session in one role's list only: RoleOf must have one answer.
func (c *check) allow(allow map[sessions.Role][]sessions.Name) {
	owner := map[sessions.Name]sessions.Role{}
	for _, role := range slices.Sorted(maps.Keys(allow)) {
		at := "allow." + string(role)
		c.name(at, string(role))
		if len(allow[role]) == 0 {
			c.add(at, "no session is listed; remove the role or name one")
		}
		for i, session := range allow[role] {
			field := fmt.Sprintf("%s[%d]", at, i)
			if why := sessionProblem(string(session)); why != "" {
				c.add(field, "%q is not a session name: %s", session, why)
			}
			if first, taken := owner[session]; taken {
				c.add(field, "%q is listed already, for %s", session, first)
			}
			owner[session] = role
		}
	}
}

func (c *check) aliases(aliases map[string]sessions.Role) {
	for _, id := range slices.Sorted(maps.Keys(aliases)) {
		c.name("aliases."+id, id)
		c.name("aliases."+id, string(aliases[id]))
	}
}

func (c *check) policy(p Policy) {
	if !p.AttachOnly {
		c.add("policy.attach_only", "only true is accepted: arkamsg never creates a session (ARKA §11)")
	}
	if p.OnMissingSession != "block" {
		c.add("policy.on_missing_session", "only block is accepted (ARKA §11)")
	}
	c.name("policy.escalation.default", string(p.Escalation.Default))
	c.name("policy.escalation.fallback", string(p.Escalation.Fallback))
	c.duration("policy.escalation.inactive_after", p.Escalation.InactiveAfter, 0, 365*24*time.Hour)
	c.count("policy.retry.max_attempts", p.Retry.MaxAttempts, 1, 100)
	if len(p.Retry.Backoff) == 0 || len(p.Retry.Backoff) > 100 {
		c.add("policy.retry.backoff", "between 1 and 100 waits are needed, %d are listed", len(p.Retry.Backoff))
	}
	for i, d := range p.Retry.Backoff {
		c.duration(fmt.Sprintf("policy.retry.backoff[%d]", i), d, 0, 24*time.Hour)
	}
}

// providers is for sessions to judge: it knows what a profile can say.
func (c *check) providers(overrides map[string]sessions.Override) {
	_, err := sessions.Profiles(overrides)
	*c = append(*c, errkind.Problems(err)...)
}

func (c *check) keeping(f *File) {
	c.oneOf("journal.sync", f.Journal.Sync, "full", "normal", "off")
	c.duration("journal.archive_after", f.Journal.ArchiveAfter, time.Hour, 100*365*24*time.Hour)
}

// listen accepts loopback only. "localhost" is taken at its word; any other name
// could be pointed elsewhere by whoever answers for it.
func (c *check) listen(addr string) {
	if addr == "" {
		return
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		c.add("http.listen", "%q is not host:port", addr)
		return
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		c.add("http.listen", "%q is not a port", port)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		c.add("http.listen", "%q is not a loopback address; for another machine use ssh -L or a proxy", host)
	}
}

func (c *check) jobs(j Jobs) {
	c.duration("jobs.lease", j.Lease, time.Second, 24*time.Hour)
	c.duration("jobs.heartbeat", j.Heartbeat, 100*time.Millisecond, 24*time.Hour)
	if j.Heartbeat >= j.Lease {
		c.add("jobs.heartbeat", "%v does not come before the lease of %v ends", j.Heartbeat, j.Lease)
	}
	c.count("jobs.max_attempts", j.MaxAttempts, 1, 100)
}

func (c *check) persist(p Persist) {
	c.count("persist.per_minute", p.PerMinute, 1, 10_000)
	c.oneOf("persist.mismatch", p.Mismatch, "replay", "conflict")
	if p.PIIRules != "" && (pathProblem(p.PIIRules) != "" || !filepath.IsLocal(p.PIIRules)) {
		c.add("persist.pii_rules", "%q is not a file below the home", p.PIIRules)
	}
}

func (c *check) externalAgents(ids []string) {
	for i, id := range ids {
		field := fmt.Sprintf("external_agents[%d]", i)
		c.name(field, id)
		if slices.Contains(ids[:i], id) {
			c.add(field, "%q is listed already", id)
		}
	}
}
