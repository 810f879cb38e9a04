// Package doctor finds out whether a home works from end to end, and says what
// to type when it does not (ARKA §12).
//
// # Checks are data
//
// A [Check] has a stable code, a title, the codes it depends on, a limit and a
// function. All run side by side, each as soon as what it depends on has
// passed. When that fails, the check is skipped and names the failure at the
// root, so that one broken thing is shouted once. A warning is something that a
// person should know and that stops no message; it stops no check either.
//
// [Home] examines a home and its sessions. [Lab] builds a scratch home with a
// private tmux server and stand-in agents, runs this very program in it as real
// processes (daemon, push, pull, status), and makes every check of Home on it
// besides.
//
// # The real thing
//
// In both, a test message goes through the public door, and the doctor watches
// the pane until it has seen the notification (and, for codex, the isolated ""
// line) with its own eyes; and one is sent to a session that does not exist,
// which must be blocked, returned and escalated once, with no session created.
// These events carry [arkamsg/journal.Event].Test: they stand in no inbox, count
// nowhere, and what follows from them is recorded, not typed. Only in the lab,
// where nobody is disturbed, real messages are sent as well.
//
// # What a home notices
//
// The doctor reads, except for its test events, which stay in the history. A
// test message that is still waiting when the doctor's patience ends is
// withdrawn before it is typed, and the dead letter of the blocked one is
// cleared, so neither is left for a person to deal with. No session is created,
// renamed or closed outside the lab.
//
// # What is left of a lab
//
// Nothing, and the last check looks. The daemon is stopped first, then the tmux
// server with its panes, then the folder. If the doctor itself is killed with
// SIGKILL once the lab stands, the guard of internal/lab removes server and
// folder; on Linux the kernel ends the daemon with its parent, and elsewhere the
// daemon ends itself when it finds its lock file gone, within five seconds.
//
// # When a check does not answer
//
// Each check has a limit. One that ignores it (a file system that hangs) is
// left behind, and reported as failed; the others go on.
package doctor
