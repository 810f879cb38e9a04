package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"arkamsg/internal/errkind"
)

// Bounds of one exchange (RELIABILITY 13).
const (
	headerTimeout = 2 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 60 * time.Second
	maxHeader     = 8 << 10

	// grace is what requests in hand get when the daemon is asked to stop; then
	// their contexts end, and they get it once more to notice.
	grace = 3 * time.Second
)

// An entrance is one way in: a listener and what its requests pass through.
type entrance struct {
	listener net.Listener
	server   *http.Server
	inHand   sync.RWMutex // read-locked by every handler; locked for good at the end
	cut      context.CancelFunc
}

// newEntrance takes the listener over. Nothing runs before [entrance.run].
func newEntrance(l net.Listener, h http.Handler, log *slog.Logger) *entrance {
	e := &entrance{listener: l}
	base, cut := context.WithCancel(context.Background())
	e.cut = cut
	e.server = &http.Server{
		Handler:           e.counted(h),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader - 4096, // net/http adds 4096 of its own
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	return e
}

// counted knows of every request in hand, which http.Server.Close does not wait
// for, and lets none begin after the end.
func (e *entrance) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !e.inHand.TryRLock() {
			panic(http.ErrAbortHandler) // its connection is being cut
		}
		defer e.inHand.RUnlock()
		next.ServeHTTP(w, r)
	})
}

// run serves until ctx ends, or until the listener fails, which is the error.
func (e *entrance) run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- e.server.Serve(e.listener) }()
	select {
	case <-ctx.Done():
		err := e.stop()
		<-served
		return err
	case err := <-served:
		return errors.Join(err, e.stop())
	}
}

// stop closes the listener, lets requests finish, then cuts them off.
func (e *entrance) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := e.server.Shutdown(ctx)
	e.cut()
	if errors.Is(err, context.DeadlineExceeded) {
		err = e.server.Close()
	}
	return errors.Join(err, e.empty())
}

// empty waits until the last handler has returned.
func (e *entrance) empty() error {
	done := make(chan struct{})
	go func() {
		e.inHand.Lock()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(grace):
		return errkind.New(errkind.Internal, "a request does not end although its context did")
	}
}
