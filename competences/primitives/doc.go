// Package primitives is the closed set of things a competence can do on a
// screen: each kind of step, and a JSON Schema for its parameters.
//
// The set is data (primitives.yaml, embedded): adding a kind is an entry in a
// file and a test, never code. It is closed because a competence will be
// executed by a machine that knows these kinds and no others; an unknown kind
// is refused when it is taught, not when it fails (seed §2).
//
// Parameters may hold a placeholder "${name}" wherever a text stands; the
// schema sees the placeholder as text.
package primitives
