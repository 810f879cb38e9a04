package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestFindPrefersWhatWasSaid(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	lone := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(filepath.Join(top, config.Name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		flag, cwd string
		getenv    func(string) string
		want      string
	}{
		"the flag first":     {"/flag", deep, env(config.EnvHome, "/env", "HOME", "/u"), "/flag"},
		"then ARKA_HOME":     {"", deep, env(config.EnvHome, "/env", "HOME", "/u"), "/env"},
		"then a parent":      {"", deep, env("HOME", "/u"), top},
		"then ~/.arka":       {"", lone, env("HOME", "/u"), "/u/.arka"},
		"relative to cwd":    {"../h/", deep, env(), filepath.Join(top, "a", "h")},
		"relative ARKA_HOME": {"", deep, env(config.EnvHome, "e"), filepath.Join(deep, "e")},
	} {
		got, err := config.Find(c.flag, c.cwd, c.getenv)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestFindWithoutAnything(t *testing.T) {
	_, err := config.Find("", t.TempDir(), env())
	if errkind.Of(err) != errkind.Invalid || errkind.Hint(err) == "" {
		t.Errorf("got %v", err)
	}
	if _, err := config.Find("a\x00b", "/", env()); errkind.Of(err) != errkind.Invalid {
		t.Errorf("a NUL in the path: %v", err)
	}
}

// A folder or a link of that name is not a configuration.
func TestFindPassesByWhatIsNoFile(t *testing.T) {
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, config.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := config.Find("", top, env("HOME", "/u"))
	if err != nil || got != "/u/.arka" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLayoutIsTheContracts(t *testing.T) {
	h := config.Home("/h")
	for want, got := range map[string]string{
		"/h/arka.yaml":        h.Config(),
		"/h/journal.db":       h.Journal(),
		"/h/notifyd.lock":     h.Lock(),
		"/h/arkamsg.sock":     h.Socket(),
		"/h/bell":             h.Bell(),
		"/h/data/competences": h.Competences(),
		"/h/messaging":        h.Messaging(config.Default()),
		"/elsewhere":          h.Messaging(&config.File{Messaging: config.Messaging{Root: "/elsewhere/"}}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
