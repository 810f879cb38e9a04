package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"arkamsg/internal/plaintext"
	"arkamsg/notifyd"
)

func (p *program) statusVerb() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "is everything flowing?",
		Description: "Reads only, and works while the daemon is down. Every reason shown comes with\n" +
			"what helps. --watch refreshes until Ctrl-C.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "one JSON object"},
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "refresh in place"},
		},
		Action: func(c *cli.Context) error {
			return p.looking(c, func(room *notifyd.Mailroom) error {
				if c.Bool("watch") {
					return p.watchStatus(c.Context, room, c.Bool("json"))
				}
				return p.status(c.Context, room, c.Bool("json"))
			})
		},
	}
}

func (p *program) status(ctx context.Context, room *notifyd.Mailroom, asJSON bool) error {
	s, err := room.Status(ctx, version)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(s)
	}
	return p.printStatus(s, time.Now())
}

// watchStatus repeats the screen in place on a terminal and one after the other
// elsewhere.
func (p *program) watchStatus(ctx context.Context, room *notifyd.Mailroom, asJSON bool) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	show := func() error { return p.status(ctx, room, asJSON) }
	if screen, ok := p.stdout.(*os.File); ok && terminal(screen) && !asJSON {
		show = p.inPlace(screen, show)
	}
	for {
		if err := show(); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// inPlace makes show write over what stands on the screen, line by line. To clear
// it would flicker, and put every frame into the scroll-back of some terminals.
func (p *program) inPlace(screen *os.File, show func() error) func() error {
	p.stdout = overwriter{screen}
	return func() error {
		_, err := screen.WriteString("\x1b[H")
		err = errors.Join(err, show())
		_, last := screen.WriteString("\x1b[J")
		return errors.Join(err, last)
	}
}

// An overwriter erases what is left of a line that it ends.
type overwriter struct{ *os.File }

func (o overwriter) Write(text []byte) (int, error) {
	_, err := o.File.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\x1b[K\n")))
	return len(text), err
}

func (p *program) printStatus(s notifyd.Status, now time.Time) error {
	t := newTable(p.stdout)
	t.row("daemon", p.daemonLine(s.Daemon, now))
	t.row("home", s.Home)
	t.row("lag", lagLine(s.Lag))
	t.row("totals", fmt.Sprintf("%d events, %d delivered, %d failed", s.Totals.Events, s.Totals.Delivered, s.Totals.Failed))
	p.printSoundness(t, s, now)
	if err := t.flush(); err != nil {
		return err
	}
	p.printWaiting(t, s.Waiting, now)
	p.printFailures(t, s.Failures, now)
	p.printCounters(t, s.Counters)
	return t.flush()
}

// printSoundness says when the journal was proved, or what is wrong with it.
func (p *program) printSoundness(t table, s notifyd.Status, now time.Time) {
	switch {
	case s.Damage != "":
		t.row(p.paint(red, "DAMAGE"), s.Damage)
		t.row("", "-> arkamsg journal verify; then: "+s.Remedy)
	case s.Proved != nil:
		t.row("journal", fmt.Sprintf("%d events proved %s ago", s.Proved.Events, age(now.Sub(time.Time(s.Proved.At)))))
	}
	for _, strain := range s.Strained {
		t.row(p.paint(red, "STRAINED"), strain.What)
		t.row("", "-> "+strain.Remedy)
	}
}

func (p *program) daemonLine(d notifyd.DaemonStatus, now time.Time) painted {
	who := painted(fmt.Sprintf(": pid %d on %s", d.PID, plaintext.EscapeLine(d.Host)))
	switch {
	case d.Running && d.LeaseExpired:
		return p.paint(red, "hangs") + who + painted(fmt.Sprintf(", its lease has expired -> kill -CONT %d if it was stopped, else kill -9 %d; then: arkamsg daemon", d.PID, d.PID))
	case d.Running && d.StartedAt != nil:
		return p.paint(green, "running") + who + painted(fmt.Sprintf(", term %d, for %s", d.Term, age(now.Sub(time.Time(*d.StartedAt)))))
	case d.Running:
		return p.paint(green, "starting")
	default:
		return p.paint(red, "not running") + " -> arkamsg daemon"
	}
}

func lagLine(l notifyd.LagStatus) string {
	if l.Queued+l.Dispatched == 0 {
		return "nothing is waiting"
	}
	line := fmt.Sprintf("%d queued, %d in hand", l.Queued, l.Dispatched)
	if l.Queued > 0 {
		line += ", oldest queued for " + age(time.Duration(l.OldestQueuedAgeMS)*time.Millisecond)
	}
	return line
}

func (p *program) printWaiting(t table, waiting []notifyd.WaitingStatus, now time.Time) {
	if len(waiting) > 0 {
		t.row("")
		t.row("waiting")
	}
	for _, w := range waiting {
		t.row("  "+string(w.MessageID), w.Target, w.Reason, age(now.Sub(time.Time(w.Since))), "-> "+notifyd.RemedyFor(w.Reason, w.MessageID, w.Target))
	}
}

func (p *program) printFailures(t table, failures []notifyd.FailureStatus, now time.Time) {
	if len(failures) > 0 {
		t.row("")
		t.row("last failures")
	}
	for _, f := range failures {
		t.row("  "+string(f.MessageID), f.Target, f.Reason, age(now.Sub(time.Time(f.At)))+" ago", "-> arkamsg dead show "+string(f.MessageID))
	}
}

// printCounters shows those that counted anything.
func (p *program) printCounters(t table, counters map[string]int64) {
	first := true
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if counters[name] == 0 {
			continue
		}
		if first {
			t.row("")
			t.row("counters")
			first = false
		}
		t.row("  "+strings.TrimSuffix(name, "_total"), counters[name])
	}
}
