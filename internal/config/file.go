package config

import (
	"reflect"
	"strings"
	"time"

	"arkamsg/sessions"
)

// File is arka.yaml, key by key (CONTRACT "arka.yaml"). Durations are Go's: 150ms,
// 10s, 720h.
type File struct {
	Version       int    `yaml:"version"`
	Project       string `yaml:"project"`
	SessionPrefix string `yaml:"session_prefix"`
	Provider      string `yaml:"provider"`

	Tmux           Tmux                              `yaml:"tmux"`
	Messaging      Messaging                         `yaml:"messaging"`
	Allow          map[sessions.Role][]sessions.Name `yaml:"allow"`   // the only sessions ever typed into
	Aliases        map[string]sessions.Role          `yaml:"aliases"` // technical id → role (ARKA §11)
	Policy         Policy                            `yaml:"policy"`
	Providers      map[string]sessions.Override      `yaml:"providers"` // overrides of the built-in profiles
	Journal        Journal                           `yaml:"journal"`
	HTTP           HTTP                              `yaml:"http"`
	Jobs           Jobs                              `yaml:"jobs"`
	Persist        Persist                           `yaml:"persist"`
	ExternalAgents []string                          `yaml:"external_agents"`
}

// Tmux says which tmux server holds the sessions; both empty is the user's own.
type Tmux struct {
	SocketName string `yaml:"socket_name"` // as for tmux -L
	SocketPath string `yaml:"socket_path"` // as for tmux -S
}

// Messaging is the backlog of message files.
type Messaging struct {
	Root          string `yaml:"root"`           // relative to the home, or absolute
	AnnounceFiles bool   `yaml:"announce_files"` // notify about files written by hand
}

// Policy is ARKA §11.
type Policy struct {
	AttachOnly       bool       `yaml:"attach_only"`        // only true
	OnMissingSession string     `yaml:"on_missing_session"` // only block
	Escalation       Escalation `yaml:"escalation"`
	Retry            Retry      `yaml:"retry"`
}

// Escalation says who learns of a message that could not be delivered.
type Escalation struct {
	Default       sessions.Role `yaml:"default"`
	Fallback      sessions.Role `yaml:"fallback"`       // when the sender is Default, or Default is inactive
	InactiveAfter time.Duration `yaml:"inactive_after"` // 0: inactive means that no session is there
}

// Retry bounds how often a delivery that failed for a passing reason is tried.
type Retry struct {
	MaxAttempts int             `yaml:"max_attempts"`
	Backoff     []time.Duration `yaml:"backoff"` // before attempt 1, 2, …; the last one repeats
}

// Before returns how long to wait before the given attempt, counted from 1.
func (r Retry) Before(attempt int) time.Duration {
	if len(r.Backoff) == 0 || attempt < 1 {
		return 0
	}
	return r.Backoff[min(attempt, len(r.Backoff))-1]
}

// Journal is how the journal keeps what it was told.
type Journal struct {
	Sync         string        `yaml:"sync"`          // full, normal or off
	ArchiveAfter time.Duration `yaml:"archive_after"` // age at which finished events move to an archive
}

// HTTP is the TCP door; the unix socket is always there.
type HTTP struct {
	Listen string `yaml:"listen"` // loopback host:port; empty: no TCP
}

// Jobs are the leases of processing agents.
type Jobs struct {
	Lease       time.Duration `yaml:"lease"`
	Heartbeat   time.Duration `yaml:"heartbeat"`
	MaxAttempts int           `yaml:"max_attempts"`
}

// Persist is the door through which competences are kept.
type Persist struct {
	PerMinute int    `yaml:"per_minute"` // per machine, in any 60 s
	Mismatch  string `yaml:"mismatch"`   // replay or conflict
	PIIRules  string `yaml:"pii_rules"`  // file below the home; empty: the built-in rules
}

// Default is what an empty arka.yaml means.
func Default() *File {
	return &File{
		Version:       1,
		Project:       "local",
		SessionPrefix: "arka",
		Provider:      "codex",
		Messaging:     Messaging{Root: "messaging"},
		Allow:         map[sessions.Role][]sessions.Name{},
		Aliases:       map[string]sessions.Role{},
		Policy: Policy{
			AttachOnly:       true,
			OnMissingSession: "block",
			Escalation:       Escalation{Default: "PMO", Fallback: "Owner"},
			Retry: Retry{MaxAttempts: 5,
				Backoff: []time.Duration{0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}},
		},
		Providers:      map[string]sessions.Override{},
		Journal:        Journal{Sync: "full", ArchiveAfter: 720 * time.Hour},
		Jobs:           Jobs{Lease: 120 * time.Second, Heartbeat: 30 * time.Second, MaxAttempts: 5},
		Persist:        Persist{PerMinute: 10, Mismatch: "replay"},
		ExternalAgents: []string{"t2a_v2_codeur"},
	}
}

// EnvTmuxSocket names the variable that overrides the tmux section: a path when
// it holds a slash, a name otherwise.
const EnvTmuxSocket = "ARKA_TMUX_SOCKET"

// Under returns the tmux section as the environment has it.
func (t Tmux) Under(getenv func(string) string) Tmux {
	switch v := getenv(EnvTmuxSocket); {
	case v == "":
		return t
	case strings.Contains(v, "/"):
		return Tmux{SocketPath: v}
	default:
		return Tmux{SocketName: v}
	}
}

// Keys lists every key of arka.yaml as a dotted path, in the order of the file;
// a provider's keys stand under "providers.*".
func Keys() []string { return keysOf(reflect.TypeFor[File](), "") }

func keysOf(t reflect.Type, prefix string) []string {
	var keys []string
	for _, f := range reflect.VisibleFields(t) {
		path := prefix + f.Tag.Get("yaml")
		keys = append(keys, path)
		switch {
		case f.Type.Kind() == reflect.Struct:
			keys = append(keys, keysOf(f.Type, path+".")...)
		case f.Type.Kind() == reflect.Map && f.Type.Elem().Kind() == reflect.Struct:
			keys = append(keys, keysOf(f.Type.Elem(), path+".*.")...)
		}
	}
	return keys
}
