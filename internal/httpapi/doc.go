// Package httpapi is the HTTP door of the daemon: thin, like every door. It
// parses, makes one call to a keeper and prints (STYLE 27).
//
// # Two ways in
//
// The unix socket <home>/arkamsg.sock is always there, for the user alone: mode
// 0600 from the first instant at which it can be found, and the kernel is asked
// who connects, whatever the mode says. TCP is there when http.listen names a
// loopback address. Loopback is not trusted (RELIABILITY 13): any web page in
// the user's browser can reach it, so a request must name a Host that is ours
// (DNS rebinding), must not come from another origin, and must bear a token,
// whatever its method. Both ways lead to the same routes.
//
// # Bounds
//
// Headers arrive within 2 s and 8 KiB, bodies within 10 s and 1 MiB, answers
// leave within 30 s, an idle connection is kept for 60 s, and there are at most
// [maxConns] connections at each way in. One that comes on top waits until
// another ends.
//
// # What happens on failure
//
// [Service] takes the socket only after the daemon's lock is held, so a socket
// file that lies there was left by a dead daemon and is replaced; anything else
// under that name is refused and stays as it is. When the context ends, requests
// in hand get [grace] to finish; then their contexts end and their connections
// are cut. When run returns, nothing that it started is alive and the socket
// file is gone. A panic in a route is one 500 with a correlation id, and the
// log has the stack.
//
// # The document
//
// /openapi.json is the source of truth for clients: openapi/openapi.json with the
// fragments of the [Part]s merged in. Every response in the tests is validated
// against it.
package httpapi
