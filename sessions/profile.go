package sessions

import (
	"regexp"
	"time"
)

// Proof says how a delivery is shown to have happened.
type Proof string

// The four proofs of CONTRACT "Provider profiles".
const (
	ProofComposer   Proof = "composer"   // the composer is empty again, or the turn has begun
	ProofEcho       Proof = "echo"       // the text stands on the screen, and the Enter moved something
	ProofTranscript Proof = "transcript" // the agent's own file holds the text
	ProofNone       Proof = "none"       // typed and entered is all that is known
)

// Profile is what is known about a kind of agent's screen. It is data: built-in
// ones are embedded, the configuration overrides them key by key.
type Profile struct {
	Name       string
	Programs   []string         // globs of the foreground program; empty: anything but a shell
	Prompt     *regexp.Regexp   // begins the composer's line; nil: the composer is not examined
	Empty      *regexp.Regexp   // that line when nothing is typed; nil: nothing after the prompt
	Busy       []*regexp.Regexp // on the visible screen: in a turn
	Dialog     []*regexp.Regexp // on the visible screen: an Enter would answer something
	Trailer    string           // isolated last line; empty: none
	Settle     time.Duration    // between paste and submit
	Submit     string           // tmux key name
	Proof      Proof
	Transcript string // glob of the agent's own files, ~ allowed
	WaitIdle   bool   // false: deliver during a turn, the agent queues input itself
}

// frame is the text as it is pasted: the profile's trailer on a line of its own.
func (p Profile) frame(text string) string {
	if p.Trailer == "" {
		return text
	}
	return text + "\n" + p.Trailer
}

// shells never receive a line: each would be executed. A wrapper script that
// runs the agent without exec shows as its shell too; a profile that wants such
// a pane lists the shell's name in programs.
var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "fish": true, "dash": true, "ash": true, "ksh": true, "mksh": true,
	"oksh": true, "loksh": true, "pdksh": true, "yash": true, "posh": true, "rbash": true, "rzsh": true,
	"csh": true, "tcsh": true, "nu": true, "nushell": true, "pwsh": true, "powershell": true, "xonsh": true,
	"elvish": true, "busybox": true, "osh": true, "ysh": true, "es": true, "rc": true, "login": true,
	"su": true, "sudo": true, "doas": true, "": true,
}

// expects reports whether the foreground program may be typed into.
func (p Profile) expects(program string) bool {
	if len(p.Programs) == 0 {
		return !shells[program]
	}
	listed, globbed := false, false
	for _, g := range p.Programs {
		listed = listed || g == program
		globbed = globbed || matches(g, program)
	}
	return listed || globbed && !shells[program]
}
