package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"

	"golang.org/x/sync/errgroup"

	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi/wire"
	"arkamsg/notifyd"
)

// Options is what the program hands to the door.
type Options struct {
	Room          *notifyd.Mailroom
	Logger        *slog.Logger
	Version       string
	Authenticator Authenticator // needed when http.listen is set
	Parts         []Part
}

// A Part is a set of routes that lives in a folder of its own.
type Part struct {
	Handler  http.Handler
	Patterns []string // of http.ServeMux, whole paths: "/api/v1/lea/"
	OpenAPI  []byte   // paths, components and tags; see [Document]
}

// API is the door of one daemon.
type API struct {
	opts     Options
	log      *slog.Logger
	metrics  *metrics
	document []byte
	routes   http.Handler
}

// New wires the routes. It fails when the parts contradict each other.
func New(opts Options) (*API, error) {
	a := &API{opts: opts, log: opts.Logger}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	a.metrics = newMetrics(opts.Room.Journal, opts.Version, a.log)
	var err error
	if a.document, err = Document(opts.Version, opts.Parts...); err != nil {
		return nil, err
	}
	a.routes = a.table()
	return a, nil
}

// table is every route of this package and of the parts.
func (a *API) table() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/notify", a.postNotify)
	mux.HandleFunc("GET /api/v1/notify/{id}", a.getNotify)
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /ops/readiness", a.readiness)
	mux.Handle("GET /metrics", a.metrics.handler())
	mux.HandleFunc("GET /openapi.json", a.openAPI)
	for _, p := range a.opts.Parts {
		for _, pattern := range p.Patterns {
			mux.Handle(pattern, p.Handler)
		}
	}
	return wire.Routes(mux)
}

// Service runs the door inside the daemon. Its Listen is called with the
// daemon's lock held, which makes a socket file that is there a stale one.
func (a *API) Service() notifyd.Service {
	return notifyd.Service{Name: "http", Listen: a.listen}
}

func (a *API) listen(context.Context) (func(context.Context) error, error) {
	doors, err := a.open()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return runAll(ctx, doors) }, nil
}

// open opens every way in; none runs yet.
func (a *API) open() ([]*entrance, error) {
	s, err := listenSocket(a.opts.Room.Home.Socket())
	if err != nil {
		return nil, err
	}
	doors := []*entrance{a.unix(s)}
	if addr := a.opts.Room.Config.HTTP.Listen; addr != "" {
		e, err := a.tcp(addr)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		doors = append(doors, e)
	}
	return doors, nil
}

func (a *API) unix(s *socket) *entrance {
	l := peerListener{socket: s, uid: uint32(os.Geteuid()), log: a.log}
	return newEntrance(capped(l, maxConns), exchange("unix", a.log, sameOrigin(a.routes)), a.log)
}

func (a *API) tcp(addr string) (*entrance, error) {
	if a.opts.Authenticator == nil {
		return nil, errkind.New(errkind.Internal, "http.listen is set and nobody can check a token")
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, errkind.New(errkind.Refused, "cannot listen on %s", addr).Wrap(err).
			WithHint("choose another http.listen in arka.yaml")
	}
	if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		return nil, errors.Join(errkind.New(errkind.Refused, "%s is not a loopback address", addr), l.Close())
	}
	a.log.Info("listening", "addr", l.Addr().String())
	guarded := knownHost(l.Addr(), sameOrigin(bearer(a.opts.Authenticator, a.routes)))
	return newEntrance(capped(l, maxConns), exchange("tcp", a.log, guarded), a.log), nil
}

// runAll runs every way in; the failure of one ends the others.
func runAll(ctx context.Context, doors []*entrance) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, e := range doors {
		group.Go(func() error { return e.run(ctx) })
	}
	return group.Wait()
}
