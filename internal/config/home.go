package config

import (
	"os"
	"path/filepath"
	"strings"

	"arkamsg/internal/errkind"
)

// EnvHome names the variable that points at the home.
const EnvHome = "ARKA_HOME"

// Name is the file that makes a folder a home.
const Name = "arka.yaml"

// Home is the absolute path of the folder that holds everything of one
// installation. The layout below it is part of the contract (CONTRACT "Home and
// files").
type Home string

// Find says which home is meant: the flag, else ARKA_HOME, else the nearest
// folder from cwd upwards that holds an arka.yaml, else ~/.arka. It does not
// demand that the home exists: `init` is about to make it.
func Find(flag, cwd string, getenv func(string) string) (Home, error) {
	for _, named := range []string{flag, getenv(EnvHome)} {
		if named != "" {
			return absolute(named, cwd)
		}
	}
	if dir := nearest(cwd); dir != "" {
		return Home(dir), nil
	}
	user := getenv("HOME")
	if user == "" {
		return "", errkind.New(errkind.Invalid, "no home: HOME is not set and no %s was found from %s upwards", Name, cwd).
			WithHint("name one: arkamsg --home DIR …")
	}
	return absolute(filepath.Join(user, ".arka"), cwd)
}

func absolute(dir, cwd string) (Home, error) {
	if strings.ContainsRune(dir, 0) {
		return "", errkind.New(errkind.Invalid, "the home %q holds a NUL", dir)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	return Home(filepath.Clean(dir)), nil
}

// nearest climbs from dir to the root and stops at the first home.
func nearest(dir string) string {
	for {
		if info, err := os.Lstat(filepath.Join(dir, Name)); err == nil && info.Mode().IsRegular() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func (h Home) in(name string) string { return filepath.Join(string(h), name) }

// Config is the configuration file.
func (h Home) Config() string { return h.in(Name) }

// Journal is the database of the journal.
func (h Home) Journal() string { return h.in("journal.db") }

// Lock is the daemon's OS lock. It is never deleted.
func (h Home) Lock() string { return h.in("notifyd.lock") }

// Socket is where the daemon answers HTTP to the same user.
func (h Home) Socket() string { return h.in("arkamsg.sock") }

// Bell is touched by whoever appended work, so that the daemon wakes.
func (h Home) Bell() string { return h.in("bell") }

// Competences is the tree of learned competences.
func (h Home) Competences() string { return h.in(filepath.Join("data", "competences")) }

// Messaging is the root of the backlog: messaging.root, taken from the home
// when it is relative.
func (h Home) Messaging(f *File) string {
	if filepath.IsAbs(f.Messaging.Root) {
		return filepath.Clean(f.Messaging.Root)
	}
	return h.in(f.Messaging.Root)
}
