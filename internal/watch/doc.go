// Package watch wakes a waiting process when a file changes, without polling.
//
// Two things are watched: the doorbell and files that people edit.
//
// The doorbell is a file of our own, <home>/bell, that holds nothing worth
// reading. Whoever appends work to the journal rings it ([Ring]); the daemon
// sleeps until it hears it ([Bell]). Measured against the alternatives, a bell
// file woke another process in under a millisecond at an idle cost too small
// to measure; watching SQLite's -wal took eleven times as long, and polling
// fast enough to compete cost six per cent of a core for doing nothing.
//
// A ring can be lost: the kernel's queue may overflow, the folder may be on a
// file system without events. Nothing may depend on it alone, so whoever
// listens also sweeps slowly. Rings that nobody has heard yet are one ring.
//
// This is the only package that imports fsnotify.
package watch
