// Package bench measures arkamsg beside what people would use instead, in one
// run on one disk: an SQLite queue (goqite) and an embedded NATS JetStream that
// syncs every write. It is a module of its own, so that the program's go.mod
// names neither.
//
// Each contender does the whole cycle, durably: append, claim, done, with the
// same number of workers. Slices of work alternate between the contenders, so
// that a noisy machine is noisy for all, and what counts is the ratio.
package bench
