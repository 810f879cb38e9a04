package notifyd

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"arkamsg/internal/config"
	"arkamsg/internal/watch"
	"arkamsg/journal"
)

// sweepEvery heals a lost ring of the doorbell.
const sweepEvery = 20 * time.Second

// A Route does the work of one kind of event and records its outcome through
// the ticket. It may be called again with the same event after a crash or an
// error, and must recognise what was done already. An error that it returns is
// logged, and the same ticket is tried again after a pause.
//
// ctx ends when the office is lost: whatever is in hand stops at once. stop
// closes when the daemon was asked to leave: a step in hand is finished, a wait
// is not, and work that has no outcome yet is left as it is.
type Route func(ctx context.Context, stop <-chan struct{}, t journal.Ticket) error

// A Service runs inside the daemon, between the taking of the lease and its
// resignation. Listen is called first and fails the start; what it returns
// blocks until its context ends, and leaves nothing alive behind.
type Service struct {
	Name   string
	Listen func(ctx context.Context) (run func(ctx context.Context) error, err error)
}

// Options are what the program hands to its daemon.
type Options struct {
	Logger   *slog.Logger
	Load     func() (*config.File, error) // reads arka.yaml again
	Routes   map[journal.Kind]Route       // besides those into panes
	Services []Service
	Ready    func() // called once: lock, lease and services are up
	// LeaseTTL is how long the office outlives a daemon that stopped answering;
	// 0 is 15 s. It bounds how soon another daemon may take over by the rules.
	LeaseTTL time.Duration
	// Observe is told every outcome of what is typed into panes, after it is
	// recorded. It must not block.
	Observe func(journal.Ticket, journal.State, journal.Reason)
}

// A Daemon consumes the journal of one home. Make it with [NewDaemon], run it
// once with [Daemon.Run].
type Daemon struct {
	room     *Mailroom
	opts     Options
	log      *slog.Logger
	settings atomic.Pointer[settings]
	routes   map[journal.Kind]Route
	kinds    []journal.Kind
	office   *tenure
	wake     chan struct{}

	mu    sync.Mutex
	lanes map[journal.Lane]bool // with a goroutine of their own
	work  sync.WaitGroup
}

// NewDaemon checks the configuration and builds the route table.
func NewDaemon(room *Mailroom, opts Options) (*Daemon, error) {
	d := &Daemon{
		room: room, opts: opts, log: opts.Logger,
		routes: make(map[journal.Kind]Route), wake: make(chan struct{}, 1),
		lanes: make(map[journal.Lane]bool),
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.opts.LeaseTTL <= 0 {
		d.opts.LeaseTTL = leaseTTL
	}
	if d.opts.Observe == nil {
		d.opts.Observe = func(journal.Ticket, journal.State, journal.Reason) {}
	}
	if err := d.use(room.Config); err != nil {
		return nil, err
	}
	for kind, route := range opts.Routes {
		d.routes[kind] = route
	}
	for _, kind := range []journal.Kind{journal.KindNotify, journal.KindReturn, journal.KindEscalation} {
		d.routes[kind] = d.toPane
	}
	for kind := range d.routes {
		d.kinds = append(d.kinds, kind)
	}
	return d, nil
}

// Term is the term of the lease that Run holds; 0 before it has one.
func (d *Daemon) Term() journal.Term {
	if d == nil || d.office == nil {
		return 0
	}
	return d.office.term
}

// Run takes the lock and the lease and works until ctx ends or the office is
// lost. When it returns, nothing that it started is alive; nil means that it
// was asked to stop.
func (d *Daemon) Run(ctx context.Context) error {
	lock, err := takeLock(ctx, d.room.Home.Lock())
	if err != nil {
		return err
	}
	office, err := takeOffice(ctx, d.room.Journal, lock, d.opts.LeaseTTL, d.log)
	if ctx.Err() != nil && err != nil {
		return lock.release() // asked to stop before it began
	}
	if err != nil {
		return errors.Join(err, lock.release())
	}
	d.office = office
	d.log.Info("daemon started", keyHome, string(d.room.Home), keyTerm, office.term)
	err = d.serve(ctx)
	office.resign()
	d.log.Info("daemon stopped", keyTerm, office.term)
	return errors.Join(err, lock.release())
}

// serve runs everything under two contexts: ctx is the wish to stop, honoured
// between steps; hard ends when the office is lost, which stops steps in hand,
// or when nothing is in hand any more. The lease is kept until then.
func (d *Daemon) serve(ctx context.Context) error {
	hard, end := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer end()
		return d.office.keep(hard)
	})
	group.Go(func() error {
		defer end()
		defer d.work.Wait()
		return d.attend(ctx, hard, group)
	})
	err := group.Wait()
	stopping()
	return err
}

// attend starts all that the daemon does besides keeping its office, and
// dispatches until ctx ends. An error ends what was started.
func (d *Daemon) attend(ctx, hard context.Context, group *errgroup.Group) error {
	for _, s := range d.opts.Services {
		run, err := s.Listen(ctx)
		if err != nil {
			return err
		}
		group.Go(func() error { return run(ctx) })
	}
	rings, err := watch.Bell(ctx, d.room.Home.Bell())
	if err != nil {
		return err
	}
	defer drain(rings)
	group.Go(func() error { return d.reload(ctx) })
	group.Go(func() error { return d.followBacklog(ctx) })
	group.Go(func() error { return d.upkeep(ctx) })
	d.ready()
	return d.dispatch(ctx, hard, rings)
}

func (d *Daemon) ready() {
	notifyReady()
	if d.opts.Ready != nil {
		d.opts.Ready()
	}
}

// dispatch gives every lane that has work a goroutine of its own. It sleeps
// until the bell rings, a lane runs dry, a retry falls due or the sweep is due.
func (d *Daemon) dispatch(ctx, hard context.Context, rings <-chan struct{}) error {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	trouble := trouble{log: d.log}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rings:
		case <-d.wake:
		case <-due.C:
		case <-sweep.C:
		}
		next, err := d.startLanes(ctx, hard)
		if err != nil && ctx.Err() == nil {
			trouble.say(err)
			next = time.Now().Add(afterError)
		}
		if !next.IsZero() {
			due.Reset(time.Until(next))
		}
	}
}

// startLanes returns the time at which the next retry falls due. While the lease
// is not trusted nothing is started.
func (d *Daemon) startLanes(ctx, hard context.Context) (time.Time, error) {
	if !d.office.holds() {
		return time.Now().Add(afterError), nil
	}
	ready, next, err := d.room.Journal.ReadyLanes(ctx, d.kinds...)
	if err != nil {
		return time.Time{}, err
	}
	for _, l := range ready {
		if d.enter(l) {
			d.work.Go(func() { d.runLane(ctx, hard, l) })
		}
	}
	return next, nil
}

// enter reports whether the lane had no goroutine and now has one.
func (d *Daemon) enter(l journal.Lane) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lanes[l] {
		return false
	}
	d.lanes[l] = true
	return true
}

// leave gives the lane up and has the dispatcher look once more: work may have
// come in after the lane was found empty.
func (d *Daemon) leave(l journal.Lane) {
	d.mu.Lock()
	delete(d.lanes, l)
	d.mu.Unlock()
	d.nudge()
}

// nudge wakes the dispatcher; any number of nudges are one.
func (d *Daemon) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}
