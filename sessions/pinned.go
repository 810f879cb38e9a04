package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"arkamsg/internal/errkind"
)

// String writes the pin down so that another process can go on with the very
// same pane; [ParseTarget] reads it.
func (t Target) String() string {
	b, err := json.Marshal(t)
	if err != nil {
		return "" // numbers and strings: cannot happen, and "" is no target
	}
	return string(b)
}

// ParseTarget reads what String wrote. Invalid for anything else.
func ParseTarget(s string) (Target, error) {
	var t Target
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return Target{}, errkind.New(errkind.Invalid, "this is not a pinned pane").Wrap(err)
	}
	if !isID('$', t.SessionID) || !isID('%', t.PaneID) || t.ServerPID <= 0 || t.PanePID <= 0 {
		return Target{}, errkind.New(errkind.Invalid, "this is not a pinned pane: %q", s)
	}
	return t, nil
}

// Alive reports whether the pinned pane is still there: the same server, the
// same session, the same program's process. ErrUnavailable when tmux does not
// answer, which proves nothing.
func (s *Server) Alive(ctx context.Context, t Target) (bool, error) {
	out, err := s.do(ctx, nil, run(verbListPanes, "-a", "-F", "#{pid} #{start_time} #{session_id} #{pane_id} "+
		"#{pane_pid} #{window_active}#{pane_active} #{session_name}"))
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(out)) {
		found, _, err := parsePane(strings.TrimSuffix(line, "\n"))
		if err == nil && found.SamePane(t) {
			return true, nil
		}
	}
	return false, nil
}

// LastActivity is when something last happened in the pinned pane's session.
func (s *Server) LastActivity(ctx context.Context, t Target) (time.Time, error) {
	out, err := s.do(ctx, nil, run(verbListSessions, "-F", "#{session_id} #{session_activity}"))
	if err != nil {
		return time.Time{}, err
	}
	for line := range strings.Lines(string(out)) {
		id, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if id == t.SessionID && err == nil {
			return time.Unix(seconds, 0), nil
		}
	}
	return time.Time{}, missing("session %s is not there", t.SessionID)
}
