package sessions

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Target is a session name resolved once to a pane, in ids that a renamed,
// recycled or restarted tmux cannot give to somebody else without being seen:
// every field is compared again by the server in the command that types.
type Target struct {
	Name        Name   `json:"name"` // for people; never sent to tmux
	ServerPID   int    `json:"server_pid"`
	ServerStart int64  `json:"server_start"` // unix seconds
	SessionID   string `json:"session_id"`   // "$1"
	PaneID      string `json:"pane_id"`      // "%3"
	PanePID     int    `json:"pane_pid"`
	Panes       int    `json:"panes"` // in the session when pinned; the active one was taken
}

// SamePane reports whether both pins mean the same pane of the same server.
func (t Target) SamePane(o Target) bool {
	t.Name, t.Panes = o.Name, o.Panes
	return t == o
}

// id is the exact tmux target: the pane, and only within the pinned session, so
// that a session which shares the window (grouped sessions) is not meant.
func (t Target) id() string { return t.SessionID + ":." + t.PaneID }

// Session is one tmux session as a person would list it.
type Session struct {
	ID       string    `json:"id"`
	Name     Name      `json:"name"`
	Attached int       `json:"attached"` // clients looking at it
	Windows  int       `json:"windows"`
	Created  time.Time `json:"created"`
}

// Sessions lists what is there. No server is no session: an empty list would
// hide the difference, so it is ErrMissing.
func (s *Server) Sessions(ctx context.Context) ([]Session, error) {
	out, err := s.do(ctx, nil, run(verbListSessions, "-F",
		"#{session_id} #{session_attached} #{session_windows} #{session_created} #{session_name}"))
	if err != nil {
		return nil, err
	}
	var list []Session
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		if len(f) != 5 {
			return nil, unavailable("tmux listed a session we cannot read: %q", line)
		}
		attached, _ := strconv.Atoi(f[1])
		windows, _ := strconv.Atoi(f[2])
		created, _ := strconv.ParseInt(f[3], 10, 64)
		list = append(list, Session{ID: f[0], Name: Name(f[4]), Attached: attached, Windows: windows, Created: time.Unix(created, 0).UTC()})
	}
	return list, nil
}

// Pin resolves a name to the active pane of its session. The name is compared
// here, byte by byte, and never becomes a target: tmux would take a prefix or a
// pattern for it (TMUX 1), and a name may hold anything. The name stands last
// in the line because it is the one foreign value; tmux escapes newlines in it.
func (s *Server) Pin(ctx context.Context, name Name) (Target, error) {
	out, err := s.do(ctx, nil, run(verbListPanes, "-a", "-F", "#{pid} #{start_time} #{session_id} #{pane_id} "+
		"#{pane_pid} #{window_active}#{pane_active} #{session_name}"))
	if err != nil {
		return Target{}, err
	}
	var found Target
	panes := 0
	for line := range strings.Lines(string(out)) {
		t, active, err := parsePane(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return Target{}, unavailable("tmux listed a pane we cannot read: %v", err)
		}
		if t.Name != name {
			continue
		}
		panes++
		if active {
			found = t
		}
	}
	if found.PaneID == "" {
		return Target{}, missing("session %q is not there", string(name))
	}
	found.Panes = panes
	return found, nil
}

func parsePane(line string) (Target, bool, error) {
	f := strings.SplitN(line, " ", 7)
	if len(f) != 7 || !isID('$', f[2]) || !isID('%', f[3]) {
		return Target{}, false, fmt.Errorf("%q", line)
	}
	n, err := numbers(f[0], f[1], f[4])
	if err != nil {
		return Target{}, false, err
	}
	return Target{Name: Name(f[6]), ServerPID: int(n[0]), ServerStart: n[1], SessionID: f[2], PaneID: f[3],
		PanePID: int(n[2])}, f[5] == "11", nil
}

// isID reports whether v is a tmux id of the sort: "$12", "%3".
func isID(sort byte, v string) bool {
	return len(v) > 1 && v[0] == sort && strings.Trim(v[1:], "0123456789") == ""
}

func numbers(vs ...string) ([]int64, error) {
	out := make([]int64, len(vs))
	for i, v := range vs {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("number expected: %q", v)
		}
		out[i] = n
	}
	return out, nil
}
