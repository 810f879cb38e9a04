// Package candidate judges the body of a persist: is this a competence that
// may be kept? It is pure; nothing is read or written.
//
// The checks run in a fixed order, and the first that fails answers (the
// issue's decision 8): schema, name, external agent, steps, kinds and
// parameters, dropout reason, personal data. Within one check every problem is
// listed, each with its JSON pointer.
//
// What was asked for is not always what is kept: learning_state is accepted
// and ignored, because a persist never yields more than a candidate (the
// golden rule of the seed); a partial learning is always incomplete.
//
// No answer repeats a value or a key of the body: up to the last check it may
// hold personal data.
package candidate
