package sessions

import (
	"fmt"
	"strings"
)

// verb is a tmux subcommand. The list is closed: it reads, it pastes our own
// buffer, it presses the submit key, it sets our own marks. Nothing in it can
// create, rename, resize, kill or re-mode anything of the user's.
type verb string

const (
	verbListSessions verb = "list-sessions"
	verbListPanes    verb = "list-panes"
	verbDisplay      verb = "display-message"
	verbCapture      verb = "capture-pane"
	verbShowOptions  verb = "show-options"
	verbSetOption    verb = "set-option"
	verbLoadBuffer   verb = "load-buffer"
	verbListBuffers  verb = "list-buffers"
	verbDeleteBuffer verb = "delete-buffer"
	verbPasteBuffer  verb = "paste-buffer"
	verbSendKeys     verb = "send-keys"
	verbIf           verb = "if-shell"
)

// Verbs is every tmux subcommand this package can issue, for the test that
// compares it with those it did issue.
var Verbs = []string{
	string(verbListSessions), string(verbListPanes), string(verbDisplay), string(verbCapture),
	string(verbShowOptions), string(verbSetOption), string(verbLoadBuffer), string(verbListBuffers),
	string(verbDeleteBuffer), string(verbPasteBuffer), string(verbSendKeys), string(verbIf),
}

// command is one tmux command. An if-shell carries its branches as commands, so
// that they pass through the same list.
type command struct {
	verb      verb
	args      []string
	yes, no   []command
	condition string
}

func run(v verb, args ...string) command { return command{verb: v, args: args} }

// when is `if-shell -F`: the server evaluates the condition and runs one branch
// without letting another client or the pane in between. A missing target runs
// the no-branch with exit 0 (TMUX 23): only a printed answer means anything.
func when(target, condition string, yes, no []command) command {
	return command{verb: verbIf, args: []string{"-F", "-t", target}, condition: condition, yes: yes, no: no}
}

// argv is the command as arguments of the tmux client.
func (c command) argv() ([]string, error) {
	out := append([]string{string(c.verb)}, c.args...)
	if c.verb == verbIf {
		yes, err := script(c.yes)
		if err != nil {
			return nil, err
		}
		no, err := script(c.no)
		if err != nil {
			return nil, err
		}
		out = append(out, "--", c.condition, yes, no)
	}
	for _, a := range out {
		if strings.HasSuffix(a, ";") || strings.ContainsAny(a, "\x00\n") {
			return nil, fmt.Errorf("argument %q would end the tmux command", a)
		}
	}
	return out, nil
}

// script is a list of commands as one string that tmux parses: every argument
// in single quotes, inside which tmux knows no escape at all.
func script(cmds []command) (string, error) {
	parts := make([]string, 0, len(cmds))
	for _, c := range cmds {
		words := []string{string(c.verb)}
		for _, a := range c.args {
			if strings.ContainsAny(a, "'\x00\n") {
				return "", fmt.Errorf("argument %q cannot be quoted for tmux", a)
			}
			words = append(words, "'"+a+"'")
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return strings.Join(parts, " ; "), nil
}

// sequence joins commands into one client's argument list.
func sequence(cmds []command) ([]string, error) {
	var out []string
	for i, c := range cmds {
		if i > 0 {
			out = append(out, ";")
		}
		argv, err := c.argv()
		if err != nil {
			return nil, err
		}
		out = append(out, argv...)
	}
	return out, nil
}

// verbs lists every subcommand in the commands, branches included.
func verbs(cmds []command) []string {
	var out []string
	for _, c := range cmds {
		out = append(out, string(c.verb))
		out = append(out, verbs(c.yes)...)
		out = append(out, verbs(c.no)...)
	}
	return out
}
