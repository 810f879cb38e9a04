package config

import (
	"strings"

	"arkamsg/internal/plaintext"
)

// validName is [A-Za-z0-9][A-Za-z0-9._-]{0,63}: what is safe in a file name, in
// a tmux target and in the notification line alike.
func validName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i, r := range []byte(s) {
		alnum := r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", rune(r))) {
			return false
		}
	}
	return true
}

// sessionProblem says why no tmux session can have this name, or "". A name is
// only ever compared, never expanded, so anything else that tmux shows is
// allowed: spaces, accents, a leading sign.
func sessionProblem(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > 256:
		return "it is longer than 256 bytes"
	case strings.ContainsAny(name, ":."):
		return "tmux turns : and . into _; write it as `tmux ls` shows it"
	}
	if v := plaintext.CheckLine(name); v != nil {
		return v.Error()
	}
	return ""
}

// pathProblem is for the names of files and sockets.
func pathProblem(path string) string {
	if v := plaintext.CheckLine(path); v != nil {
		return v.Error()
	}
	return ""
}

// quoteArg writes s as one word for a shell.
func quoteArg(s string) string {
	safe := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("/._-+,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
