package sessions

import (
	"context"
	"time"
)

// PasteAfter looks, lets the test change the world, and then pastes on the
// strength of the old look. It says whether the server let it happen.
func (s *Server) PasteAfter(ctx context.Context, d Delivery, change func()) (bool, error) {
	v, err := s.look(ctx, d.Target, d.marks())
	if err != nil {
		return false, err
	}
	buffer, err := s.load(ctx, d.Journal, d.Profile.frame(d.Text))
	if err != nil {
		return false, err
	}
	change()
	return s.paste(ctx, d, v, buffer)
}

// SubmitAfter is PasteAfter for the Enter.
func (s *Server) SubmitAfter(ctx context.Context, d Delivery, change func()) (bool, error) {
	v, err := s.look(ctx, d.Target, d.marks())
	if err != nil {
		return false, err
	}
	change()
	return s.submit(ctx, d, v)
}

// Hurry shortens the watching for tests of what happens at its end.
func (s *Server) Hurry() {
	s.pace = pace{look: 5 * time.Millisecond, echo: 250 * time.Millisecond, blank: 500 * time.Millisecond, proof: 250 * time.Millisecond, retry: 100 * time.Millisecond}
}

// WithDeadline is the server with another deadline for each command: a client
// that does not make it is killed, wherever it is.
func (s *Server) WithDeadline(d func() time.Duration) *Server {
	c := *s
	c.deadline = d
	return &c
}

// Frame is the text as it is pasted.
func (p Profile) Frame(text string) string { return p.frame(text) }
