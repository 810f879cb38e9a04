package wire

import (
	"net/http"
	"path"
	"strings"
)

// Routes serves a mux whose own refusals, unknown path and wrong method, look
// like every other error.
func Routes(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		switch {
		case !clean(r.URL.Path):
			Fail(w, r, NewError(http.StatusNotFound, "not_found", "there is no such path"))
		case pattern == "":
			refuse(w, r, h)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// clean keeps the mux from redirecting: a program that asks for a strange path
// is told so.
func clean(p string) bool {
	return p != "" && path.Clean(p) == strings.TrimSuffix(p, "/") || p == "/"
}

// refuse asks the mux's own answer for its status and the methods it allows.
func refuse(w http.ResponseWriter, r *http.Request, h http.Handler) {
	own := probe{header: http.Header{}}
	h.ServeHTTP(&own, r)
	if own.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", own.header.Get("Allow"))
		Fail(w, r, NewError(http.StatusMethodNotAllowed, "method_not_allowed", "the path does not take this method"))
		return
	}
	Fail(w, r, NewError(http.StatusNotFound, "not_found", "there is no such path"))
}

// probe is a writer that keeps status and header only.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
