package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"arkamsg/internal/config"
	"arkamsg/journal"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

// release is a version of tmux; the letter of "3.3a" does not matter here.
type release struct{ major, minor int }

func (r release) before(o release) bool {
	return r.major < o.major || r.major == o.major && r.minor < o.minor
}

// oldest is the first tmux with user options on panes, in which we keep the
// marks that make delivery happen once.
var oldest = release{3, 0}

// defects of tmux that matter to us, and that we work around.
var defects = []struct {
	fixed release
	what  string
}{
	{release{3, 5}, "a paste into a dead pane kills the whole server: never pasted there"},
	{release{3, 7}, "ESC sequences in a paste leave its frame: refused before they get there"},
}

var versionLine = regexp.MustCompile(`^tmux (?:next-)?(\d+)\.(\d+)`)

func checkTmux(ctx context.Context, _ *patient) Finding {
	said, err := notifyd.Tmux(config.Default(), nil).Version(ctx)
	if err != nil {
		return fail("install tmux: make deps, or: sudo apt-get install tmux (macOS: brew install tmux)", "%v", err)
	}
	return judgeTmux(said)
}

func judgeTmux(said string) Finding {
	m := versionLine.FindStringSubmatch(said)
	if m == nil {
		return warn("use a released tmux, 3.0 or newer", "the version %q is not known", said)
	}
	var v release
	v.major, _ = strconv.Atoi(m[1])
	v.minor, _ = strconv.Atoi(m[2])
	if v.before(oldest) {
		return fail("install tmux 3.0 or newer", "%s is too old: its panes keep no marks", said)
	}
	detail := said
	for _, d := range defects {
		if v.before(d.fixed) {
			detail += fmt.Sprintf("\nknown before %d.%d: %s", d.fixed.major, d.fixed.minor, d.what)
		}
	}
	return ok("%s", detail)
}

func checkServer(ctx context.Context, p *patient) Finding {
	p.tmux = notifyd.Tmux(p.file, nil)
	list, err := p.tmux.Sessions(ctx)
	switch {
	case errors.Is(err, sessions.ErrMissing):
		return fail("start the agents' sessions, or name their server in arka.yaml under tmux", "no tmux server is running")
	case err != nil:
		return failure(err, "see whether it answers a person: tmux list-sessions; a stopped one: kill -CONT its pid")
	}
	return ok("%d sessions", len(list))
}

// checkSessions looks through the gate at every session that may be typed into.
// It fails when nobody can be reached; waiting is no fault.
func checkSessions(ctx context.Context, p *patient) Finding {
	views, err := notifyd.LookAround(ctx, p.file)
	if err != nil {
		return failure(err, "arkamsg sessions")
	}
	p.view = views
	if len(views) == 0 {
		return fail("add the agents' sessions under allow in arka.yaml; what there is: tmux list-sessions",
			"the allow-list is empty: nobody can be typed to")
	}
	detail := list(len(views), func(i int) string { return describe(views[i]) })
	var hurt journal.Reason
	reachable := false
	for _, v := range views {
		if unreachable(v) {
			hurt = v.Reason
		} else {
			reachable = true
		}
	}
	switch {
	case !reachable:
		return fail(remedy(hurt), "%s", detail)
	case hurt != "":
		return warn(remedy(hurt), "%s", detail)
	}
	return ok("%s", detail) // busy, or somebody types: messages wait
}

// unreachable: a message sent now would be blocked, or nobody can tell.
func unreachable(v notifyd.SessionView) bool {
	return notifyd.Blocks(v.Reason) || v.Reason == journal.ReasonTmuxUnavailable || v.Reason == journal.ReasonInvalid
}

func describe(v notifyd.SessionView) string {
	state := "ready"
	if !v.Deliverable {
		state = string(v.Reason)
	}
	parts := []string{string(v.Role), string(v.Session), state}
	if v.Program != "" {
		parts = append(parts, "("+v.Program+")")
	}
	return strings.Join(parts, " ")
}

// remedy is what to do about a reason; here no message has failed yet, so the
// advice ends before its retry.
func remedy(r journal.Reason) string {
	what, _, _ := strings.Cut(notifyd.Remedy(r), ", then: arkamsg dead")
	return what
}
