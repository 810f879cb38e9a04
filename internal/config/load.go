package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

const (
	maxBytes = 256 << 10
	maxNodes = 20_000
	maxDepth = 16
)

// Load reads the home's arka.yaml. What the environment overrides is for the
// program to apply ([Tmux.Under]).
//
// Errors: NotFound without a file, Invalid with all problems, Refused when the
// file is a link, not regular, somebody else's, or writable by everybody.
func Load(home Home) (*File, error) {
	data, err := read(home)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// Parse reads the text of an arka.yaml over the defaults and validates the
// whole. The error is Invalid and holds every problem with its field and line.
func Parse(data []byte) (*File, error) {
	doc, problems := strictyaml.Parse(data, strictyaml.Limits{MaxBytes: maxBytes, MaxNodes: maxNodes, MaxDepth: maxDepth})
	if problems != nil {
		return nil, refuse(problems)
	}
	f := Default()
	problems = doc.Decode(f)
	problems = append(problems, located(f.Validate(), problems, doc)...)
	if len(problems) > 0 {
		return nil, refuse(problems)
	}
	return f, nil
}

func refuse(problems []errkind.Problem) error {
	return errkind.New(errkind.Invalid, "%s is not accepted", Name).WithProblems(problems...).
		WithHint("correct %s; a daemon that runs goes on with what it had", Name)
}

// located gives each problem its line, and drops those of a field that could not
// be decoded at all: they speak of a value that nobody wrote.
func located(found, before []errkind.Problem, doc *strictyaml.Doc) []errkind.Problem {
	undecoded := map[string]bool{}
	for _, p := range before {
		undecoded[p.Field] = true
	}
	var kept []errkind.Problem
	for _, p := range found {
		if undecoded[p.Field] {
			continue
		}
		p.Line = doc.Line(p.Field)
		kept = append(kept, p)
	}
	return kept
}

func read(home Home) ([]byte, error) {
	root, err := os.OpenRoot(string(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(home)
	}
	if err != nil {
		return nil, errkind.New(errkind.Refused, "the home %s cannot be opened", home).Wrap(err)
	}
	defer root.Close()
	data, err := durable.ReadFile(root, Name, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(home)
	}
	if err != nil {
		return nil, err
	}
	return data, trusted(root, home)
}

func missing(home Home) error {
	return errkind.New(errkind.NotFound, "there is no %s in %s", Name, home).
		WithHint("write one: arkamsg --home %s init", quoteArg(string(home))).Wrap(fs.ErrNotExist)
}

// trusted refuses a configuration that another user decides about: it says
// which sessions are typed into.
func trusted(root *os.Root, home Home) error {
	info, err := root.Lstat(Name)
	if err != nil {
		return errkind.New(errkind.NotNow, "%s vanished while it was read", home.Config()).Wrap(err)
	}
	path := quoteArg(home.Config())
	if st, ok := info.Sys().(*syscall.Stat_t); ok && !ours(st.Uid) {
		return errkind.New(errkind.Refused, "%s belongs to another user (uid %d)", path, st.Uid).
			WithHint("name your own home: arkamsg --home DIR …, or ARKA_HOME")
	}
	if info.Mode().Perm()&0o002 != 0 {
		return errkind.New(errkind.Refused, "%s can be written by everybody", path).
			WithHint("chmod o-w %s", path)
	}
	return nil
}

// ours: the user's own file, or one that root wrote for everybody.
func ours(uid uint32) bool { return uid == 0 || int64(uid) == int64(os.Geteuid()) }
