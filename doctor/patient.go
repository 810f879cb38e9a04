package doctor

import (
	"errors"
	"sync"

	"arkamsg/internal/config"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

// patient is what is examined. A check writes the fields that its comment
// claims, and only checks that come after it read them.
type patient struct {
	Options
	home config.Home // lab, or as given

	file *config.File          // config
	room *notifyd.Mailroom     // journal: opened read-only
	door *notifyd.Mailroom     // bell: opened as push opens it
	tmux *sessions.Server      // tmux_server
	view []notifyd.SessionView // sessions
	sent sentTests             // delivery and missing_session

	stage *stage // lab

	mu      sync.Mutex
	closers []func() error
	closed  bool
}

// sentTests are the test events of this examination.
type sentTests struct {
	delivered, blocked journal.MessageID
	role               messaging.Role // of the pane that showed the delivered one
}

// onClose registers what has to be undone, last come first.
func (p *patient) onClose(undo func() error) {
	p.mu.Lock()
	late := p.closed
	if !late {
		p.closers = append(p.closers, undo)
	}
	p.mu.Unlock()
	if late { // a check that was left behind
		_ = undo()
	}
}

func (p *patient) close() error {
	p.mu.Lock()
	p.closed = true
	closers := p.closers
	p.mu.Unlock()
	var all error
	for i := len(closers) - 1; i >= 0; i-- {
		all = errors.Join(all, closers[i]())
	}
	return all
}
