package sessions

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// marks names the pane's user options of one message. They are scoped by the
// journal, so that two homes which share a pane do not read each other's.
type marks struct {
	token   string // "@arkamsg_<journal>": highest claim that pasted here
	message string // "@arkamsg_<journal>_<event>": "", "p", "s1", "s2" …
}

func marksOf(journal string, event int64) marks {
	token := "@arkamsg_" + journal
	return marks{token: token, message: token + "_" + strconv.FormatInt(event, 10)}
}

// typingOption is the pane's own mark, whoever types: "<unix ms>-<journal>-<event>"
// from a paste until its Enter. Two journals which share a pane would otherwise
// paste one after the other before the program has drawn the first.
const typingOption = "@arkamsg_typing"

// step is how far a message has come in the pane, as the pane says.
type step string

const (
	stepNone   step = ""  // never pasted here, or forgotten after it was recorded
	stepPasted step = "p" // in the composer; no Enter yet
)

// enters is how many Enters were sent: 0 for "p", 2 for "s2".
func (s step) enters() int {
	n, _ := strconv.Atoi(strings.TrimPrefix(string(s), "s"))
	return n
}

// next is the step after one more Enter.
func (s step) next() step { return step("s" + strconv.Itoa(s.enters()+1)) }

func (s step) valid() bool {
	return s == stepNone || s == stepPasted || s.enters() > 0 && string(s) == "s"+strconv.Itoa(s.enters())
}

// snapshot is a pane at one instant: its state and screen, read by one command
// sequence.
type snapshot struct {
	pane             Target // what stands there now, without the name
	dead, mode       bool
	inputOff, synced bool
	cursorX, cursorY int
	width, height    int
	token            int64
	step             step
	typing           string // "" or the paste that waits for its Enter
	program          string
	screen           []line
}

// pinFields are the values that may not change between a look and a deed. The
// order is that of pinValues.
const pinFields = "#{pid}|#{start_time}|#{session_id}|#{pane_id}|#{pane_pid}|" +
	"#{pane_dead}|#{pane_in_mode}|#{pane_input_off}|#{pane_synchronized}|#{cursor_x}|#{cursor_y}"

// observed is what a look prints. The program stands last: it is foreign text.
func (m marks) observed() string {
	return pinFields + "|#{pane_width}|#{pane_height}|#{" + m.token + "}|#{" + m.message + "}|#{" + typingOption + "}|#{pane_current_command}"
}

// fieldCount counts the values of observed.
const fieldCount = 17

// look reads the pane. ErrMoved says that the pinned pane is gone, also when
// another one has its id.
func (s *Server) look(ctx context.Context, t Target, m marks) (snapshot, error) {
	end := rand.Text()
	out, err := s.do(ctx, nil,
		run(verbCapture, "-p", "-e", "-t", t.id()), // first: it fails when the pane is gone
		run(verbDisplay, "-p", "-t", t.id(), "--", end+m.observed()),
	)
	if err != nil {
		return snapshot{}, err
	}
	screen, state, found := strings.Cut(string(out), end)
	if !found {
		return snapshot{}, unavailable("tmux printed no answer")
	}
	v, err := parseFields(strings.TrimSuffix(state, "\n"))
	if err != nil {
		return snapshot{}, unavailable("tmux printed what we cannot read: %v", err)
	}
	v.screen = parseScreen(screen)
	if !v.pane.SamePane(t) {
		return v, moved(v.pane)
	}
	return v, nil
}

func parseFields(s string) (snapshot, error) {
	f := strings.SplitN(s, "|", fieldCount)
	if len(f) != fieldCount {
		return snapshot{}, fmt.Errorf("%d fields in %q", len(f), s)
	}
	n, err := numbers(f[0], f[1], f[4], f[9], f[10], f[11], f[12])
	if err != nil {
		return snapshot{}, err
	}
	v := snapshot{
		pane: Target{ServerPID: int(n[0]), ServerStart: n[1], SessionID: f[2], PaneID: f[3], PanePID: int(n[2])},
		dead: f[5] != "0", mode: f[6] != "0", inputOff: f[7] != "0", synced: f[8] != "0",
		cursorX: int(n[3]), cursorY: int(n[4]), width: int(n[5]), height: int(n[6]),
		step: step(f[14]), typing: f[15], program: f[16],
	}
	if f[13] != "" {
		if v.token, err = strconv.ParseInt(f[13], 10, 64); err != nil {
			return snapshot{}, fmt.Errorf("the pane's token is %q", f[13])
		}
	}
	if v.typing != "" && !plainProgram.MatchString(v.typing) {
		return snapshot{}, fmt.Errorf("the pane's typing mark is %q", f[15])
	}
	if !v.step.valid() {
		return snapshot{}, fmt.Errorf("the pane's mark is %q", f[14])
	}
	return v, nil
}

// typingNow reports whether another paste is so young that the program may not
// have drawn it. An older one shows in the composer, or was given up.
func (v snapshot) typingNow(now time.Time, young time.Duration) bool {
	at, _, _ := strings.Cut(v.typing, "-")
	ms, err := strconv.ParseInt(at, 10, 64)
	age := now.Sub(time.UnixMilli(ms))
	return err == nil && age >= 0 && age < young
}
