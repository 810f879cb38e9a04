package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/bootclock"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

// office is what lock and lease say, seen together.
type office struct {
	lease   journal.Lease
	live    bool   // the lease, by its deadline
	held    bool   // the lock, by anybody
	lockID  string // device and inode of the lock file; "" without one
	foreign bool   // another machine's lease that has not run out
}

// changing is how long a daemon that starts or stops may leave lock and lease at
// odds.
const changing = 2 * time.Second

// checkLease looks more than once when the two disagree: between taking the
// lock and the lease, and between giving them back, they do.
func checkLease(ctx context.Context, p *patient) Finding {
	for until := time.Now().Add(changing); ; {
		o, err := p.office(ctx)
		if err != nil {
			return failure(err, "check the lock file: ls -l "+p.home.Lock())
		}
		f := o.judge(p)
		if f.State == OK || time.Now().After(until) || ctx.Err() != nil {
			return f
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *patient) office(ctx context.Context) (o office, err error) {
	if o.held, o.lockID, err = probeLock(p.home.Lock()); err != nil {
		return o, err
	}
	if o.lease, o.live, err = p.room.Journal.Leader(ctx); err != nil {
		return o, err
	}
	host, _ := os.Hostname()
	boot, err := bootclock.ID()
	o.foreign = o.lease.Term > 0 && o.lease.BootID != boot && o.lease.Host != host && time.Now().Before(o.lease.ExpiresAt)
	return o, err
}

// judge names the ways in which lock and lease can disagree. PIDs are for
// people: nothing is decided by them.
func (o office) judge(p *patient) Finding {
	who := fmt.Sprintf("pid %d on %s", o.lease.PID, o.lease.Host)
	switch {
	case o.foreign:
		return fail("stop that daemon, or give this machine a home of its own", "a daemon of another machine leads this home: %s", who)
	case o.live && o.lockID != o.lease.LockID:
		return fail(fmt.Sprintf("stop every daemon of this home (kill %d), then: arkamsg daemon", o.lease.PID),
			"%s was deleted or replaced while the daemon (%s) held it; a second one could start", p.home.Lock(), who)
	case o.live && !o.held:
		return warn("arkamsg daemon", "the daemon (%s) was killed; the next one takes its lease at once", who)
	case !o.live && o.held:
		return fail(fmt.Sprintf("kill -CONT %d if it was stopped, else: kill -9 %d, then: arkamsg daemon; nothing is lost by that", o.lease.PID, o.lease.PID),
			"the daemon hangs: it holds %s and does not renew its lease (last: %s)", p.home.Lock(), who)
	case o.live:
		return ok("term %d, %s", o.lease.Term, who)
	}
	return ok("nobody leads")
}

// probeLock reports whether somebody holds the lock, and which file it is. It
// takes the lock shared for an instant; a daemon that starts in that very
// instant says that another one holds it, and starts at the next try.
func probeLock(path string) (held bool, id string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, "", nil
	}
	if err != nil {
		return false, "", err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, "", err
	}
	id = fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, id, nil
	}
	return false, id, err
}

func checkDaemon(ctx context.Context, p *patient) Finding {
	s, err := p.room.Status(ctx, p.Version)
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	d := s.Daemon
	if !d.Running || d.StartedAt == nil || d.LeaseExpired {
		return fail("arkamsg daemon (at login: see docs/runbook.md)", "no daemon is running; messages are kept and wait")
	}
	return ok("pid %d, term %d, since %s", d.PID, d.Term, d.StartedAt)
}

// checkSocket asks the daemon itself, over the door that other programs use.
func checkSocket(ctx context.Context, p *patient) Finding {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.home.Socket())
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/healthz", nil)
	if err != nil {
		return fail("report this to the authors of arkamsg", "%v", err)
	}
	remedy := "restart the daemon; what it says: arkamsg --verbose daemon"
	resp, err := client.Do(req)
	if err != nil {
		return fail(remedy, "%v", err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	if resp.StatusCode != http.StatusOK {
		return fail(remedy, "/healthz answers %s: %q", resp.Status, said)
	}
	return ok("%s", p.home.Socket())
}

const (
	// bellLimit is more than the daemon's slow sweep, which finds what the bell
	// did not announce.
	bellLimit = 30 * time.Second
	// heard is when it was the bell and not the sweep.
	heard = 3 * time.Second
)

// checkBell appends an escalation marked as a test, which a daemon records
// without typing, and measures how soon it does.
func checkBell(ctx context.Context, p *patient) Finding {
	door, err := notifyd.Open(ctx, p.home, p.file, notifyd.OpenOptions{})
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	p.onClose(door.Close)
	env := p.envelope("bell", "arkamsg-doctor", "")
	body, err := env.JSON()
	if err != nil {
		return failure(err, "report this to the authors of arkamsg")
	}
	began := time.Now()
	id := journal.MessageID(env.MessageID)
	_, err = door.Journal.Append(ctx, journal.NewEvent{
		MessageID: id, Kind: journal.KindEscalation, Lane: "doctor", Body: body, Test: true,
	})
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	rec, err := door.Await(ctx, id)
	took := time.Since(began).Round(time.Millisecond)
	switch {
	case err != nil:
		return failure(err, "arkamsg journal verify")
	case rec.State != journal.Delivered:
		giveUp(door, id)
		return fail("restart the daemon, and look at its log", "the daemon leaves work alone: %s after %v", rec.State, took)
	}
	p.door = door
	if took > heard {
		return warn("raise the limits: sysctl fs.inotify.max_user_watches fs.inotify.max_user_instances, then restart the daemon",
			"the daemon does not hear its bell; its sweep found the event after %v", took)
	}
	return ok("woken in %v", took)
}

// envelope is a notification of the doctor's own, to a session.
func (p *patient) envelope(what, session, role string) messaging.Envelope {
	env := messaging.Envelope{
		Type: "notify", V: 1, MessageID: messaging.ID("doctor-" + what + "-" + string(messaging.NewID())),
		TS: time.Now().UTC().Truncate(time.Millisecond), Session: session, Project: p.file.Project, ToAgent: role,
		Provider: p.file.Provider, SessionPrefix: p.file.SessionPrefix, Sender: sender,
	}
	env.Resource.Pointer = "ptr:msg:" + string(env.MessageID)
	return env
}

// sender is who the doctor's test messages come from.
const sender = "arkamsg-doctor"

// giveUp cancels a test event that the daemon does not have in hand. It has a
// time of its own: the examination's may be over.
func giveUp(door *notifyd.Mailroom, id journal.MessageID) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = door.Journal.Cancel(ctx, id, "the doctor's patience is over") // ended meanwhile: just as well
}
