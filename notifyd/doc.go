// Package notifyd is the daemon, and the only place where the keepers meet:
// the journal knows what must be done, messaging what was written, sessions
// who is listening, and none of them knows the others.
//
// # Two halves
//
// [Mailroom] is an opened home: configuration, journal and backlog, wired. Every
// door uses it, whether or not a daemon runs: [Mailroom.Send], [Mailroom.SendEnvelopes]
// and [Mailroom.Pull] are the verbs of an agent. Sending appends to the journal by
// itself and rings the doorbell; if no daemon is there to hear it, the next one
// finds the work.
//
// [Daemon] takes work from the journal and brings it to its handler. It holds
// two things before it touches anything: the OS lock (flock on a file that is
// never deleted) and the lease in the journal, which carries a term. The lock
// keeps a second daemon out; the term makes a first one harmless that was
// stopped, outlived its lease and wakes up: every statement it issues names a
// term that is no longer in force, and every pane refuses what is already
// typed.
//
// # A lane
//
// Work in one lane is done one at a time, oldest first; lanes run side by side
// and never wait for each other. The lane of everything typed into a terminal
// is its session. A lane's goroutine lives while the lane has work:
//
//	claim → (already read?) → pin → gate → paste → submit → prove → record
//
// A closed gate is not a failure: the message waits, `status` says what for,
// and nothing is counted. The name is resolved anew at each look; the pane is
// written down only while text may be typed into it. A missing, forbidden, dead or foreign target is
// BLOCK (ARKA §11): the message fails with that reason, the sender is told,
// and one escalation is made, all three in one transaction. Returns and
// escalations that fail are dead letters and cause nothing further.
//
// # What happens on failure
//
// Killed at any instant: the next daemon takes over lock and lease, adopts what
// was dispatched, reads the mark in the pane and continues from there. Text
// that may have been typed into a pane which no longer exists cannot be proven
// either way; it is reported indeterminate and never typed again by itself.
//
// Stopped politely (SIGTERM): each lane finishes the step in hand, which is
// bounded, and leaves the rest for the next start. The lease is resigned.
//
// A lost lease, a journal that is no longer the file it was, or a lock file
// that was replaced end [Daemon.Run] with an error that says so, at the latest
// when the next statement is refused. Any other error is tried again, and said
// once for as long as it stays the same. The daemon
// never goes on in a state that `status` would not show.
package notifyd
