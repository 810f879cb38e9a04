package sessions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

// plainProgram holds the names that may stand in a tmux format. Another name is
// checked when looking, and is then no part of the server's condition.
var plainProgram = regexp.MustCompile(`^[A-Za-z0-9._+-]{1,64}$`)

// unchanged is the condition under which a deed is done: the pinned pane, able
// to take input, looking as it did (a person's keystroke since then moved the
// cursor), and the message at the step it had.
func unchanged(v snapshot, m marks) string {
	format := pinFields + "|#{" + m.message + "}"
	value := fmt.Sprintf("%d|%d|%s|%s|%d|0|0|0|0|%d|%d|%s", v.pane.ServerPID, v.pane.ServerStart,
		v.pane.SessionID, v.pane.PaneID, v.pane.PanePID, v.cursorX, v.cursorY, v.step)
	if plainProgram.MatchString(v.program) {
		format += "|#{pane_current_command}"
		value += "|" + v.program
	}
	return "#{==:" + format + "," + value + "}"
}

// younger is the condition that no later claim has pasted here. An unset token
// counts as 0.
func younger(m marks, token int64) string {
	return "#{e|<|:#{" + m.token + "}," + strconv.FormatInt(token, 10) + "}"
}

const (
	answerDone    = "done "
	answerRefused = "refused "
)

// deed runs what if-and-only-if the condition holds. The printed answer decides:
// done, or refused. ErrMoved is a refusal by a pane that is not the pinned one.
// Any other error means unknown: only the pane's mark can tell.
func (s *Server) deed(ctx context.Context, t Target, m marks, condition string, what, otherwise []command) (bool, error) {
	say := func(answer string) command {
		return run(verbDisplay, "-p", "-t", t.id(), "--", answer+m.observed())
	}
	out, err := s.do(ctx, nil, when(t.id(), condition, append(what, say(answerDone)), append(otherwise, say(answerRefused))))
	if err != nil {
		return false, err
	}
	answer := strings.TrimSuffix(string(out), "\n")
	if strings.HasPrefix(answer, answerDone) {
		return true, nil
	}
	refusal, ok := strings.CutPrefix(answer, answerRefused)
	if !ok {
		return false, unavailable("tmux answered %q", answer).AsUnknown()
	}
	seen, err := parseFields(refusal)
	if err != nil || !seen.pane.SamePane(t) {
		return false, moved(seen.pane)
	}
	s.log.Debug("the pane refused", "condition", condition, "seen", refusal)
	return false, nil
}

func moved(now Target) error {
	return errkind.New(errkind.NotNow, "the pane is now %s in session %s of server %d", now.PaneID, now.SessionID,
		now.ServerPID).Wrap(ErrMoved)
}

// paste moves the loaded buffer into the composer and sets both marks, or does
// nothing. The buffer is gone afterwards either way.
func (s *Server) paste(ctx context.Context, d Delivery, v snapshot, buffer string) (bool, error) {
	m, id := d.marks(), d.Target.id()
	alone := "#{==:#{" + typingOption + "}," + v.typing + "}"
	condition := "#{&&:" + younger(m, d.Token) + ",#{&&:" + alone + "," + unchanged(v, m) + "}}"
	typing := fmt.Sprintf("%d-%s-%d", time.Now().UnixMilli(), d.Journal, d.Event)
	crash.At("sessions:before-paste")
	done, err := s.deed(ctx, d.Target, m, condition, []command{
		run(verbPasteBuffer, "-p", "-r", "-d", "-b", buffer, "-t", id),
		run(verbSetOption, "-p", "-t", id, m.token, strconv.FormatInt(d.Token, 10)),
		run(verbSetOption, "-p", "-t", id, m.message, string(stepPasted)),
		run(verbSetOption, "-p", "-t", id, typingOption, typing),
	}, []command{run(verbDeleteBuffer, "-b", buffer)})
	crash.At("sessions:after-paste")
	if err != nil {
		s.drop(ctx, buffer)
	}
	return done, err
}

// submit presses the profile's key once and advances the mark, or does nothing.
func (s *Server) submit(ctx context.Context, d Delivery, v snapshot) (bool, error) {
	m := d.marks()
	crash.At("sessions:before-submit")
	done, err := s.deed(ctx, d.Target, m, unchanged(v, m), []command{
		run(verbSendKeys, "-t", d.Target.id(), "--", d.Profile.Submit),
		run(verbSetOption, "-p", "-t", d.Target.id(), m.message, string(v.step.next())),
		run(verbSetOption, "-p", "-u", "-t", d.Target.id(), typingOption),
	}, nil)
	crash.At("sessions:after-submit")
	return done, err
}

// staleBuffer is the age at which a buffer of ours has lost its owner.
const staleBuffer = time.Minute

// bufferPrefix begins the names of our buffers.
const bufferPrefix = "arkamsg-"

// load gives the text to tmux in a buffer that nobody else names, and checks in
// the same sequence that all of it arrived. Nothing of it is ever an argument.
func (s *Server) load(ctx context.Context, journal, text string) (string, error) {
	buffer := fmt.Sprintf("%s%s-%d-%s", bufferPrefix, journal, os.Getpid(), strings.ToLower(rand.Text()))
	out, err := s.do(ctx, []byte(text),
		run(verbLoadBuffer, "-b", buffer, "-"),
		run(verbListBuffers, "-f", "#{m:"+bufferPrefix+"*,#{buffer_name}}", "-F", "#{buffer_name} #{buffer_size} #{buffer_created}"))
	if err != nil {
		s.drop(ctx, buffer)
		return "", err
	}
	size := s.sweep(ctx, string(out), buffer)
	if size != int64(len(text)) {
		s.drop(ctx, buffer)
		return "", unavailable("tmux took %d of %d bytes", size, len(text))
	}
	return buffer, nil
}

// sweep returns the size of our buffer and drops those that a killed process
// left behind.
func (s *Server) sweep(ctx context.Context, listed, ours string) int64 {
	size := int64(-1)
	for line := range strings.Lines(listed) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		n, err := numbers(f[1], f[2])
		switch {
		case err != nil:
		case f[0] == ours:
			size = n[0]
		case plainProgram.MatchString(f[0]) && time.Since(time.Unix(n[1], 0)) > staleBuffer:
			s.drop(ctx, f[0])
		}
	}
	return size
}

// drop deletes a buffer of ours; one that is gone is as good.
func (s *Server) drop(ctx context.Context, buffer string) {
	if _, err := s.do(context.WithoutCancel(ctx), nil, run(verbDeleteBuffer, "-b", buffer)); err != nil {
		s.log.Debug("buffer not deleted", "buffer", buffer, "error", err)
	}
}

// Marks is what one journal has left in a pane.
type Marks struct {
	Token    int64            // highest claim that pasted here; 0: none
	Messages map[int64]string // event → "p" (pasted), "s1" (one Enter) …
}

// Marks reads the marks of a journal from a pane.
func (s *Server) Marks(ctx context.Context, t Target, journal string) (Marks, error) {
	out := Marks{Messages: map[int64]string{}}
	if _, err := s.look(ctx, t, marksOf(journal, 0)); err != nil {
		return out, err // show-options alone would read a stranger's pane
	}
	raw, err := s.do(ctx, nil, run(verbShowOptions, "-p", "-t", t.id()))
	if err != nil {
		return out, err
	}
	token := marksOf(journal, 0).token
	for line := range strings.Lines(string(raw)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == token {
			out.Token, _ = strconv.ParseInt(value, 10, 64)
		} else if event, ok := strings.CutPrefix(key, token+"_"); ok {
			if n, err := strconv.ParseInt(event, 10, 64); err == nil {
				out.Messages[n] = value
			}
		}
	}
	return out, nil
}

// Forget drops the message's mark once its end is recorded in the journal. From
// then on the token alone refuses a late paste, and every later claim is
// refused by the journal. A person who has seen that a message did not arrive
// forgets it too, and only then does a retry type it again. A pane that is gone
// has nothing to forget.
func (s *Server) Forget(ctx context.Context, d Delivery) error {
	m := d.marks()
	same := fmt.Sprintf("#{==:#{pid}|#{start_time}|#{pane_id}|#{pane_pid},%d|%d|%s|%d}",
		d.Target.ServerPID, d.Target.ServerStart, d.Target.PaneID, d.Target.PanePID)
	_, err := s.do(ctx, nil, when(d.Target.id(), same, []command{run(verbSetOption, "-p", "-u", "-t", d.Target.id(), m.message)}, nil))
	if errors.Is(err, ErrMoved) || errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}
