// Package wire is what every HTTP route shares: how a body comes in and how an
// answer goes out. Routes in any folder below httpapi use it, so that a client
// meets one set of rules whatever it asks for.
//
// A body is read whole before anybody looks at it, never beyond [MaxBody], and
// only when it says that it is JSON (CONTRACT "HTTP"). A browser cannot send
// such a body to another origin without asking first, which is the second
// reason for the rule.
//
// An error goes out by its [errkind.Kind] through one table; a route that needs
// another status or a code of its own returns [Error]. On /notify, /lea and
// /shadow the answer is problem+json (RFC 9457); on /auth, /agents, /jobs and
// /ops it is the flat object that agents' protocols know (CONTRACT "HTTP").
// Both carry a stable code, whether repeating helps, and the correlation id
// under which the log has the rest.
//
// What a caller may not see stays here: of an internal error only the
// correlation id goes out, and the cause of any error is for the log alone. The
// log in turn never holds a body, a query or a secret.
package wire
