// Package clients is the one store of who may speak to the HTTP door: programs
// (clients and their tokens) and people (users and their sessions). Competences
// and jobs both ask here.
//
// A secret is 32 random bytes. It is shown once, when it is made, and kept as
// its SHA-256; a hash of a random secret needs no salt and no slowness. A
// password is neither random nor long and is kept as argon2id. Comparisons take
// constant time. No secret is ever part of an error or a log.
//
// # States
//
//	client   live from Add; Rotate changes its secret and ends its tokens;
//	         Revoke is for ever
//	token    live from Token or Exchange until it expires, or its client is
//	         rotated or revoked: at once, with the commit
//
// A write that is done on behalf of a client calls [Still] inside its own
// transaction: what was revoked before the commit cannot write, however early
// the request was let in.
//
// A client of kind machine is bound to one machine id; what it sends must name
// that machine. Failure: an unknown, expired or revoked token is Refused and
// says no more than that.
package clients
