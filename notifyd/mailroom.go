package notifyd

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"arkamsg/internal/config"
	"arkamsg/internal/errkind"
	"arkamsg/internal/watch"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// A Mailroom is an opened home: configuration, journal and backlog, wired. It
// works whether or not a daemon runs, and any number may be open at once.
type Mailroom struct {
	Home    config.Home
	Config  *config.File // as it was opened
	Journal *journal.Journal
	Tree    *messaging.Tree // nil when read-only and nothing was ever written

	log     *slog.Logger
	inForce atomic.Pointer[config.File] // a daemon replaces it
}

// OpenOptions says how to open a home.
type OpenOptions struct {
	ReadOnly   bool // nothing is created or written; enough for status and show
	AcceptLoss bool // open a journal that lost rows, to make it good
	Logger     *slog.Logger
}

// Open opens the keepers of a home. Close it when done.
func Open(ctx context.Context, home config.Home, file *config.File, opts OpenOptions) (*Mailroom, error) {
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m := &Mailroom{Home: home, Config: file, log: log}
	m.inForce.Store(file)
	j, err := journal.Open(ctx, string(home), journal.Options{
		Sync: file.Journal.Sync, ReadOnly: opts.ReadOnly, AcceptLoss: opts.AcceptLoss, Logger: log, OnAppend: m.ring,
	})
	if err != nil {
		return nil, err
	}
	m.Journal = j
	if opts.ReadOnly {
		return m, nil
	}
	if m.Tree, err = messaging.Open(home.Messaging(file)); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return m, nil
}

// Close closes the keepers.
func (m *Mailroom) Close() error {
	var treeErr error
	if m.Tree != nil {
		treeErr = m.Tree.Close()
	}
	return errors.Join(treeErr, m.Journal.Close())
}

// ring wakes the daemon. A ring that fails is healed by the daemon's sweep, so
// it must not turn an accepted message into an error.
func (m *Mailroom) ring() {
	if err := watch.Ring(m.Home.Bell()); err != nil {
		m.log.Warn("the daemon was not woken; its sweep will find the message", keyError, err)
	}
}

// directory is the configuration's view of who may be typed to.
func directory(f *config.File) sessions.Directory {
	d := sessions.Directory{
		Allow:    make(map[sessions.Role][]sessions.Name, len(f.Allow)),
		Aliases:  make(map[string]sessions.Role, len(f.Aliases)),
		Project:  f.Project,
		Prefix:   f.SessionPrefix,
		Provider: f.Provider,
	}
	for role, names := range f.Allow {
		for _, n := range names {
			d.Allow[sessions.Role(role)] = append(d.Allow[sessions.Role(role)], sessions.Name(n))
		}
	}
	for id, role := range f.Aliases {
		d.Aliases[id] = sessions.Role(role)
	}
	return d
}

// lane is where everything typed into one session queues up.
func lane(name sessions.Name) journal.Lane { return journal.Lane(panePrefix + string(name)) }

const panePrefix = "pane:"

// LaneOf is the lane of everything typed into the named session.
func LaneOf(session string) journal.Lane { return lane(sessions.Name(session)) }

// Target is what a lane means to people: the session, for what is typed.
func Target(l journal.Lane) string { return strings.TrimPrefix(string(l), panePrefix) }

// Lookup finds an event by its id; a message that was published without a
// notification is found by its own id as well.
func (m *Mailroom) Lookup(ctx context.Context, id string) (journal.Record, error) {
	rec, err := m.Journal.Get(ctx, journal.MessageID(id))
	if !errors.Is(err, journal.ErrNotFound) {
		return rec, err
	}
	if rec, err := m.Journal.Get(ctx, eventID(messaging.ID(id), true)); err == nil {
		return rec, nil
	}
	return rec, errkind.New(errkind.NotFound, "there is no event %q", id).WithHint("arkamsg events")
}

// Follow calls fn with what comes after the records that were listed, until ctx
// ends. A change of state shows an event again.
func (m *Mailroom) Follow(ctx context.Context, f journal.Filter, listed []journal.Record, fn func([]journal.Record) error) error {
	last := make(map[journal.EventID]journal.State)
	note := func(records []journal.Record) {
		for _, r := range records {
			last[r.ID] = r.State
		}
	}
	note(listed)
	for pause(ctx, followEvery) {
		records, err := m.Journal.Events(ctx, f)
		if err != nil {
			return err
		}
		fresh := slices.DeleteFunc(slices.Clone(records), func(r journal.Record) bool { return last[r.ID] == r.State })
		if len(fresh) == 0 {
			continue
		}
		if err := fn(fresh); err != nil {
			return err
		}
		note(records)
	}
	return ctx.Err()
}

// followEvery is how often a person who follows the journal sees it grow.
const followEvery = 250 * time.Millisecond
