// Package lab runs a private tmux server for the demo, for `doctor --lab` and
// for tests. It is the only place of the program that creates or kills anything
// of tmux, and it does so on a socket of its own in a folder of its own: the
// user's servers are never named.
//
// # What is left behind
//
// Nothing. [Lab.Close] kills the server and removes the folder. For the ways of
// dying in which Close is not reached (SIGKILL, a second Ctrl-C, a panic), a
// guard process waits on a pipe whose other end only we hold; when it closes,
// the guard does the same. The guard runs in a process group of its own, so a
// Ctrl-C in the terminal does not take it first.
package lab
