package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi/wire"
)

// An Authenticator says whose token it is. Refused means that it is nobody's;
// any other error, that it could not be found out. Either way nobody is let in.
type Authenticator func(ctx context.Context, token string) (client string, err error)

// sameOrigin refuses what a web page of another origin sends: writes by
// CrossOriginProtection, and reads too, which that lets through, when the
// browser names a foreign origin.
func sameOrigin(next http.Handler) http.Handler {
	refuse := func(w http.ResponseWriter, r *http.Request) {
		wire.Fail(w, r, wire.NewError(http.StatusForbidden, "cross_origin", "requests from other origins are refused"))
	}
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(refuse))
	return protection.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreignOrigin(r) {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

func foreignOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// knownHost lets only those requests through that name us: a page that had its
// own name resolved to our address (DNS rebinding) names itself.
func knownHost(addr net.Addr, next http.Handler) http.Handler {
	_, port, err := net.SplitHostPort(addr.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err != nil || !ourName(r.Host, port) {
			wire.Fail(w, r, wire.NewError(http.StatusForbidden, "host_not_allowed", "the Host header does not name this server"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func ourName(host, port string) bool {
	name, p, err := net.SplitHostPort(host)
	if err != nil || p != port {
		return false
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(name, "localhost")
}

// bearer demands a valid token, whatever the method.
func bearer(auth Authenticator, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := authenticate(r, auth)
		if err != nil {
			wire.Fail(w, r, err)
			return
		}
		wire.ExchangeOf(r.Context()).Client = client
		next.ServeHTTP(w, r)
	})
}

func authenticate(r *http.Request, auth Authenticator) (string, error) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || len(r.Header.Values("Authorization")) > 1 {
		return "", unauthorized("token_missing", "a bearer token is needed")
	}
	client, err := auth(r.Context(), token)
	if err != nil && errkind.Of(err) == errkind.Refused {
		err = unauthorized("token_invalid", "the bearer token is not valid").Wrap(err)
	}
	return client, err
}

func unauthorized(code, detail string) *wire.Error {
	e := wire.NewError(http.StatusUnauthorized, code, detail)
	e.Hint = "arkamsg client token ID"
	return e
}
