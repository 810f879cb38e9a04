package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
	"arkamsg/sessions"
)

// What people learn from must be what the program does.
func TestSampleSaysTheDefaults(t *testing.T) {
	text, err := config.Sample()
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(config.Default(), got); diff != "" {
		t.Errorf("the sample and the defaults differ (-default +sample):\n%s", diff)
	}
}

// A key that the sample does not show is a key that nobody finds. Those of a
// provider stand in the commented example.
func TestSampleShowsEveryKey(t *testing.T) {
	text, err := config.Sample()
	if err != nil {
		t.Fatal(err)
	}
	doc, problems := strictyaml.Parse(text, strictyaml.Limits{})
	if problems != nil {
		t.Fatal(problems)
	}
	for _, key := range config.Keys() {
		provider, ofProvider := strings.CutPrefix(key, "providers.*.")
		if ofProvider && !strings.Contains(string(text), "#       "+provider+": ") {
			t.Errorf("%s is not in the sample's example", key)
		}
		if !ofProvider && !doc.Has(key) {
			t.Errorf("%s is not in the sample", key)
		}
	}
}

// The configuration as CONTRACT.md shows it, with every part filled in.
const contract = `version: 1
project: arka-labs-b
session_prefix: arka
provider: codex
tmux: {socket_name: "", socket_path: ""}
messaging: {root: messaging, announce_files: false}
allow:
  PMO: [arka-arka-labs-b-PMO-codex]
aliases: {arka-agent00-core-archivist: Archiviste, pmo: PMO}
policy:
  attach_only: true
  on_missing_session: block
  escalation: {default: PMO, fallback: Owner, inactive_after: 0s}
  retry: {max_attempts: 5, backoff: [0s, 1s, 2s, 5s, 10s]}
providers:
  codex:
    settle: 200ms
    programs: [codex, node]
    trailer: ""
journal: {sync: full, archive_after: 720h}
http: {listen: "127.0.0.1:7717"}
jobs: {lease: 120s, heartbeat: 30s, max_attempts: 5}
persist: {per_minute: 10, mismatch: replay}
external_agents: [t2a_v2_codeur]
`

func TestContractExample(t *testing.T) {
	got, err := config.Parse([]byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Project = "arka-labs-b"
	want.Allow = map[sessions.Role][]sessions.Name{"PMO": {"arka-arka-labs-b-PMO-codex"}}
	want.Aliases = map[string]sessions.Role{"arka-agent00-core-archivist": "Archiviste", "pmo": "PMO"}
	settle, none := "200ms", ""
	want.Providers = map[string]sessions.Override{"codex": {Settle: &settle, Programs: &[]string{"codex", "node"}, Trailer: &none}}
	want.HTTP.Listen = "127.0.0.1:7717"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func problemsOf(t *testing.T, text string) []string {
	t.Helper()
	_, err := config.Parse([]byte(text))
	if err == nil {
		return nil
	}
	if errkind.Of(err) != errkind.Invalid || errkind.Hint(err) == "" {
		t.Errorf("%v: want invalid, with a hint", err)
	}
	var at []string
	for _, p := range errkind.Problems(err) {
		at = append(at, p.String())
	}
	return at
}

func TestAllProblemsAtOnceWithFieldAndLine(t *testing.T) {
	got := problemsOf(t, `version: 1
project: "a b"
color: green
policy:
  attach_only: false
  on_missing_session: create
  retry:
    max_attempts: many
    backoff: [0s, soon]
allow:
  PMO: [ok]
  LD: ["a:b", ok]
http: {listen: "0.0.0.0:80"}
`)
	for _, want := range []string{
		"project (line 2)", "color (line 3): unknown key", "policy.attach_only (line 5): only true",
		"policy.on_missing_session (line 6): only block", "policy.retry.max_attempts (line 8)",
		"policy.retry.backoff[1] (line 9)", "allow.LD[0] (line 12)", "allow.PMO[0] (line 11)", "http.listen (line 13)",
	} {
		if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, want) }) {
			t.Errorf("no problem begins with %q", want)
		}
	}
	if len(got) != 9 {
		t.Errorf("%d problems, want 9:\n%s", len(got), strings.Join(got, "\n"))
	}
}

// What could not be decoded is not judged a second time as what it is not.
func TestOneMistakeIsOneProblem(t *testing.T) {
	for _, text := range []string{"allow: {PMO: [[x]]}", "policy: {retry: {backoff: [soon]}}", "external_agents: [{a: b}]"} {
		if got := problemsOf(t, text); len(got) != 1 {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for text, field := range map[string]string{
		"version: 2":                                  "version",
		"provider: -x":                                "provider",
		"session_prefix: ''":                          "session_prefix",
		"project: " + strings.Repeat("x", 65):         "project",
		"tmux: {socket_name: a, socket_path: /b}":     "tmux",
		"tmux: {socket_name: a/b}":                    "tmux.socket_name",
		"tmux: {socket_path: b}":                      "tmux.socket_path",
		"messaging: {root: ../x}":                     "messaging.root",
		"messaging: {root: ''}":                       "messaging.root",
		"allow: {PMO: []}":                            "allow.PMO",
		"allow: {a b: [x]}":                           "allow.a b",
		"allow: {PMO: [x, x]}":                        "allow.PMO[1]",
		"allow: {PMO: ['']}":                          "allow.PMO[0]",
		"allow: {PMO: [a.b]}":                         "allow.PMO[0]",
		"aliases: {x y: PMO}":                         "aliases.x y",
		"aliases: {x: P M}":                           "aliases.x",
		"policy: {escalation: {default: ''}}":         "policy.escalation.default",
		"policy: {escalation: {inactive_after: -1s}}": "policy.escalation.inactive_after",
		"policy: {retry: {max_attempts: 0}}":          "policy.retry.max_attempts",
		"policy: {retry: {backoff: []}}":              "policy.retry.backoff",
		"policy: {retry: {backoff: [-1s]}}":           "policy.retry.backoff[0]",
		"providers: {'a b': {}}":                      "providers.a b",
		"providers: {codex: {prompt: '('}}":           "providers.codex.prompt",
		"providers: {codex: {settle: 150}}":           "providers.codex.settle",
		"providers: {codex: {sattle: 1s}}":            "providers.codex.sattle",
		"journal: {sync: maybe}":                      "journal.sync",
		"journal: {archive_after: 1s}":                "journal.archive_after",
		"http: {listen: ':80'}":                       "http.listen",
		"http: {listen: '10.0.0.1:80'}":               "http.listen",
		"http: {listen: 'example.org:80'}":            "http.listen",
		"http: {listen: '127.0.0.1:99999'}":           "http.listen",
		"http: {listen: '7717'}":                      "http.listen",
		"jobs: {lease: 0s}":                           "jobs.lease",
		"jobs: {lease: 10s, heartbeat: 10s}":          "jobs.heartbeat",
		"jobs: {max_attempts: -1}":                    "jobs.max_attempts",
		"persist: {per_minute: 0}":                    "persist.per_minute",
		"persist: {mismatch: ignore}":                 "persist.mismatch",
		"persist: {pii_rules: ../pii.yaml}":           "persist.pii_rules",
		"persist: {pii_rules: /etc/pii.yaml}":         "persist.pii_rules",
		"external_agents: [a, a]":                     "external_agents[1]",
		"external_agents: [a b]":                      "external_agents[0]",
	} {
		got := problemsOf(t, text)
		if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, field+" (line 1): ") }) {
			t.Errorf("%s\n  want a problem at %q, got %q", text, field, got)
		}
	}
}

func TestAccepted(t *testing.T) {
	for _, text := range []string{
		"version: 1",
		"http: {listen: '[::1]:0'}",
		"http: {listen: 'localhost:7717'}",
		"allow: {PMO: ['œuvre (é) #1', '=odd']}",
		"messaging: {root: /srv/backlog}",
		"policy: {retry: {max_attempts: 1, backoff: [0s]}}",
	} {
		if got := problemsOf(t, text); got != nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestRenderIsReadBack(t *testing.T) {
	in := config.Init{
		Project: "null", Prefix: "1e3", Provider: "yes",
		Socket:  config.Tmux{SocketName: "a name"},
		Allow:   map[sessions.Role][]sessions.Name{"PMO": {"a b", `quo"te\`, "œ #{x}", "- dash", "@x"}, "on": {"0x10"}},
		Aliases: map[string]sessions.Role{"0.1": "PMO", "no": "on"},
	}
	text, err := config.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := config.Default()
	want.Project, want.SessionPrefix, want.Provider = in.Project, in.Prefix, in.Provider
	want.Tmux, want.Allow, want.Aliases = in.Socket, in.Allow, in.Aliases
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, text)
	}
}

func TestRenderRefusesWhatCouldNotBeReadBack(t *testing.T) {
	_, err := config.Render(config.Init{Project: "a\nb", Allow: map[sessions.Role][]sessions.Name{"PMO": {"x\x1b[0m"}}})
	if errkind.Of(err) != errkind.Invalid || len(errkind.Problems(err)) != 2 {
		t.Errorf("got %v, want both problems", err)
	}
}

func TestBackoffRepeatsItsLastWait(t *testing.T) {
	r := config.Retry{Backoff: []time.Duration{0, time.Second}}
	for attempt, want := range map[int]time.Duration{0: 0, 1: 0, 2: time.Second, 9: time.Second} {
		if got := r.Before(attempt); got != want {
			t.Errorf("Before(%d) = %v, want %v", attempt, got, want)
		}
	}
	if got := (config.Retry{}).Before(3); got != 0 {
		t.Errorf("without a backoff: %v", got)
	}
}

func writeHome(t *testing.T, text string) config.Home {
	t.Helper()
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestLoad(t *testing.T) {
	f, err := config.Load(writeHome(t, contract))
	if err != nil {
		t.Fatal(err)
	}
	if f.Project != "arka-labs-b" {
		t.Errorf("project %q", f.Project)
	}
}

func TestEnvironmentNamesTheSocket(t *testing.T) {
	file := config.Tmux{SocketName: "mine"}
	for value, want := range map[string]config.Tmux{
		"":       file,
		"other":  {SocketName: "other"},
		"/tmp/s": {SocketPath: "/tmp/s"},
	} {
		if got := file.Under(env(config.EnvTmuxSocket, value)); got != want {
			t.Errorf("%s=%q: %+v, want %+v", config.EnvTmuxSocket, value, got, want)
		}
	}
}

func TestLoadWithoutAFileSaysHowToWriteOne(t *testing.T) {
	for _, home := range []config.Home{config.Home(t.TempDir()), config.Home(filepath.Join(t.TempDir(), "absent"))} {
		_, err := config.Load(home)
		if errkind.Of(err) != errkind.NotFound || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(errkind.Hint(err), "init") {
			t.Errorf("%v, hint %q", err, errkind.Hint(err))
		}
	}
}

func TestLoadRefusesAFileOfOthers(t *testing.T) {
	home := writeHome(t, "version: 1\n")
	if err := os.Chmod(home.Config(), 0o602); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(home); errkind.Of(err) != errkind.Refused || !strings.Contains(errkind.Hint(err), "chmod o-w") {
		t.Errorf("writable by everybody: %v", err)
	}

	linked := config.Home(t.TempDir())
	if err := os.Symlink(home.Config(), linked.Config()); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(linked); errkind.Of(err) != errkind.Refused {
		t.Errorf("a link: %v", err)
	}
}

func TestLoadIsBounded(t *testing.T) {
	home := writeHome(t, "version: 1\n"+strings.Repeat("# long\n", 100_000))
	if _, err := config.Load(home); err == nil {
		t.Error("700 kB were read")
	}
}

func FuzzParse(f *testing.F) {
	sample, err := config.Sample()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	f.Add([]byte(contract))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := config.Parse(data)
		if err != nil {
			if errkind.Of(err) != errkind.Invalid || len(errkind.Problems(err)) == 0 {
				t.Fatalf("refused without saying why: %v", err)
			}
			return
		}
		if p := file.Validate(); len(p) > 0 {
			t.Fatalf("accepted with problems: %v", p)
		}
		if _, err := config.Render(config.Init{Project: file.Project, Prefix: file.SessionPrefix,
			Provider: file.Provider, Socket: file.Tmux, Allow: file.Allow, Aliases: file.Aliases}); err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
	})
}
