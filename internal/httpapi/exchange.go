package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"arkamsg/internal/httpapi/wire"
)

// Keys of the log line of a request. It holds no body, no query, no header.
const (
	keyCorrelation = "correlation_id"
	keyDoor        = "door" // unix or tcp
	keyMethod      = "method"
	keyPath        = "path"
	keyStatus      = "status"
	keyBytes       = "bytes"
	keyTook        = "took"
	keyClient      = "client"
	keyError       = "error"
	keyStack       = "stack"
)

// exchange is the outermost handler: it gives a request its correlation id,
// turns a panic into an answer and writes the one log line.
func exchange(door string, log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		ctx, x := wire.NewExchange(r.Context())
		r = r.WithContext(ctx)
		seen := &seenWriter{ResponseWriter: w}
		seen.Header().Set(wire.CorrelationHeader, x.CorrelationID)
		defer func() {
			answerPanic(recover(), seen, r, log)
			log.LogAttrs(ctx, levelOf(seen.status), "request",
				slog.String(keyDoor, door), slog.String(keyMethod, r.Method), slog.String(keyPath, r.URL.Path),
				slog.Int(keyStatus, seen.status), slog.Int64(keyBytes, seen.bytes),
				slog.Duration(keyTook, time.Since(started)), slog.String(keyClient, x.Client),
				slog.Any(keyError, x.Err), slog.String(keyCorrelation, x.CorrelationID))
		}()
		next.ServeHTTP(seen, r)
	})
}

// answerPanic answers 500 if nothing was answered yet; what is half out is cut
// off, so that nobody takes it for whole.
func answerPanic(p any, w *seenWriter, r *http.Request, log *slog.Logger) {
	if p == nil {
		return
	}
	log.Error("panic in a route", keyCorrelation, wire.ExchangeOf(r.Context()).CorrelationID,
		keyError, fmt.Sprint(p), keyStack, string(debug.Stack()))
	if w.status == 0 {
		wire.Fail(w, r, fmt.Errorf("panic: %v", p))
		return
	}
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close() // cut off on purpose
	}
}

func levelOf(status int) slog.Level {
	if status >= http.StatusInternalServerError {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// seenWriter remembers what went out.
type seenWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *seenWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // 1xx are not the answer yet
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *seenWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the writer underneath.
func (w *seenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
