// Package demo shows a newcomer one message travelling, and one that cannot,
// with the real program on a private tmux server.
//
// Nothing in it is staged but the agents, which are stand-ins: every line that
// begins with $ is run as it is printed, by the same binary that would be used
// for real, in a scratch home whose daemon, panes and files are gone when the
// demo ends, however it ends.
package demo
