package doctor

import (
	"context"
	"strings"
	"time"
	"unicode"

	"arkamsg/sessions"
)

// A witness looks at one pane until it has seen a notification whole. An agent
// may redraw its screen as soon as it has the line, so the witness begins before
// the message is sent and looks often.
type witness struct {
	tmux    *sessions.Server
	target  sessions.Target
	profile sessions.Profile
	id      string // that the notification points at
}

// lookEvery is well below the time that any profile leaves between paste and
// Enter.
const lookEvery = 25 * time.Millisecond

// watch starts to look. The returned function tells what was seen: it looks on
// until the notification was there or patience ends.
func (w witness) watch(ctx context.Context) (seen func(patience time.Duration) sight) {
	ctx, stop := context.WithCancel(ctx)
	found := make(chan sight, 1)
	go func() {
		defer close(found)
		var best sight
		for {
			if s := w.look(ctx); s.better(best) {
				best = s
			}
			if best.whole(w.profile) || !pause(ctx, lookEvery) {
				found <- best
				return
			}
		}
	}()
	return func(patience time.Duration) sight {
		defer stop()
		select {
		case s := <-found:
			return s
		case <-time.After(patience):
			stop()
			return <-found
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (w witness) look(ctx context.Context) sight {
	view, err := w.tmux.Look(ctx, w.target, w.profile)
	if err != nil {
		return sight{}
	}
	return see(view.Screen, w.id, w.profile.Trailer)
}

// sight is what a screen showed of a notification.
type sight struct{ line, trailer bool }

func (s sight) better(o sight) bool { return s.line && !o.line || s.line && s.trailer && !o.trailer }

// whole: the line, and the isolated trailer where the profile has one.
func (s sight) whole(p sessions.Profile) bool { return s.line && (s.trailer || p.Trailer == "") }

// see looks for a line that begins a notification of the message, and after it
// for the trailer alone on a line. Frames, prompts and line breaks are the
// agent's own and do not count.
func see(screen, id, trailer string) sight {
	rows := strings.Split(screen, "\n")
	var s sight
	for i, row := range rows {
		if !strings.HasPrefix(bare(row), "NOTIFICATION:") || !strings.Contains(joined(rows[i:]), id) {
			continue
		}
		s.line = true
		for _, below := range rows[i+1:] {
			s.trailer = s.trailer || trailer != "" && bare(below) == trailer
		}
	}
	return s
}

// bare is a row without what an agent draws around its text.
func bare(row string) string {
	return strings.TrimFunc(row, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("│┃|▌>❯›•●*", r)
	})
}

// joined undoes wrapping: rows without frames and spaces.
func joined(rows []string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, word := range strings.Fields(bare(row)) {
			b.WriteString(word)
		}
	}
	return b.String()
}
