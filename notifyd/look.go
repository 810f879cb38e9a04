package notifyd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/sessions"
)

// A SessionView is what stands between a message and one allow-listed session
// at this moment.
type SessionView struct {
	Role        sessions.Role  `json:"role"`
	Session     sessions.Name  `json:"session"`
	Aliases     []string       `json:"aliases"`
	Provider    string         `json:"provider"`
	Target      string         `json:"target,omitempty"` // the pinned pane
	Program     string         `json:"program,omitempty"`
	Deliverable bool           `json:"deliverable"`
	Reason      journal.Reason `json:"reason,omitempty"`
	Detail      string         `json:"detail,omitempty"`
}

// LookAround looks at every allow-listed session through the gate and lists them
// in the order of roles. Nothing is typed. A tmux that does not answer is a
// view, not an error; the looks are taken side by side, so that it costs the
// patience for one.
func LookAround(ctx context.Context, file *config.File) ([]SessionView, error) {
	s, err := newSettings(file, nil)
	if err != nil {
		return nil, err
	}
	var views []SessionView
	for _, role := range slices.Sorted(maps.Keys(s.directory.Allow)) {
		for _, name := range s.directory.Allow[role] {
			views = append(views, SessionView{Role: role, Session: name})
		}
	}
	var looks errgroup.Group
	looks.SetLimit(16)
	for i, v := range views {
		looks.Go(func() error {
			views[i] = s.lookAt(ctx, v.Role, v.Session)
			return nil
		})
	}
	return views, looks.Wait()
}

func (s *settings) lookAt(ctx context.Context, role sessions.Role, name sessions.Name) SessionView {
	v := SessionView{Role: role, Session: name, Aliases: s.aliasesOf(role)}
	addr, err := s.directory.Address(sessions.Request{ToAgent: string(role), Session: string(name)})
	if err != nil {
		return v.because(journal.ReasonInvalid, err)
	}
	v.Provider = addr.Provider
	target, err := s.tmux.Pin(ctx, name)
	if err != nil {
		return v.because(unreachable(err), err)
	}
	v.Target = target.String()
	view, err := s.tmux.Look(ctx, target, s.profile(addr.Provider))
	if err != nil {
		return v.because(unreachable(err), err)
	}
	v.Program, v.Deliverable, v.Reason = view.Program, view.Open, journal.Reason(view.Reason)
	return v
}

func (v SessionView) because(r journal.Reason, err error) SessionView {
	v.Reason, v.Detail = r, err.Error()
	return v
}

func unreachable(err error) journal.Reason {
	if errors.Is(err, sessions.ErrMissing) {
		return journal.ReasonMissingSession
	}
	return journal.ReasonTmuxUnavailable
}

func (s *settings) aliasesOf(role sessions.Role) []string {
	names := []string{}
	for _, id := range slices.Sorted(maps.Keys(s.directory.Aliases)) {
		if s.directory.Aliases[id] == role {
			names = append(names, id)
		}
	}
	return names
}

// remedies says for each reason what a person can do about it.
var remedies = map[journal.Reason]string{
	journal.ReasonMissingSession:    "start the agent's session, then: arkamsg dead retry ID",
	journal.ReasonNotAllowed:        "add the session to 'allow' in arka.yaml, then: arkamsg dead retry ID",
	journal.ReasonTargetDead:        "restart the program in that pane, then: arkamsg dead retry ID",
	journal.ReasonWrongProgram:      "start the agent in that pane (or list its program in 'providers'), then: arkamsg dead retry ID",
	journal.ReasonPaneInMode:        "leave copy-mode in that pane: q, or tmux send-keys -t PANE -X cancel",
	journal.ReasonInputOff:          "switch the pane's input on: tmux select-pane -e -t PANE",
	journal.ReasonPaneSynchronized:  "switch it off: tmux set-window-option -t PANE synchronize-panes off",
	journal.ReasonHumanDraft:        "send or clear what is typed in the composer; arkamsg sessions shows where",
	journal.ReasonDialogOpen:        "answer the dialog in that pane; arkamsg sessions shows which",
	journal.ReasonAgentBusy:         "nothing to do: delivered when the agent's turn ends; arkamsg sessions shows what it does",
	journal.ReasonUnknownScreen:     "look at the pane: arkamsg sessions; if it is at its prompt, adjust 'providers' in arka.yaml",
	journal.ReasonTmuxUnavailable:   "check the tmux server: tmux ls",
	journal.ReasonEnterSwallowed:    "nothing to do: Enter is tried again; if it happens often, raise settle in 'providers'. arkamsg show ID",
	journal.ReasonAttemptsExhausted: "look at the pane, then: arkamsg dead retry ID",
	journal.ReasonIndeterminate:     "compare the evidence with the pane: arkamsg dead show ID",
	journal.ReasonInvalid:           "read what is wrong, then send it again, corrected: arkamsg show ID",
	journal.ReasonCancelled:         "nothing to do, a person cancelled it: arkamsg show ID says who; send it again if it is wanted after all",
}

// Remedy is what to do about a reason, for people. Jobs and competences have
// reasons of their own, which their history explains.
func Remedy(r journal.Reason) string {
	if remedy, ok := remedies[r]; ok {
		return remedy
	}
	return "arkamsg show ID"
}

// RemedyFor is Remedy with the message and its target in their places.
func RemedyFor(r journal.Reason, id journal.MessageID, target string) string {
	return strings.NewReplacer("ID", string(id), "-t PANE", "-t '="+target+":'").Replace(Remedy(r))
}

// DeadLetter returns one dead letter, or NotFound.
func (m *Mailroom) DeadLetter(ctx context.Context, id journal.MessageID) (journal.DeadLetter, error) {
	letters, err := m.Journal.Dead(ctx, journal.DeadFilter{ID: id})
	if err != nil {
		return journal.DeadLetter{}, err
	}
	if len(letters) == 0 {
		return journal.DeadLetter{}, errkind.New(errkind.NotFound, "%s is not a dead letter", id).
			WithHint("arkamsg dead list")
	}
	return letters[0], nil
}
