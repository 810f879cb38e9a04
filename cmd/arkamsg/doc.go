// Command arkamsg lets AI agents that live in tmux panes send each other work
// without losing it, doubling it or harming anybody's terminal.
//
// The program is a value ([program]) that a test can run as often as it likes;
// main only builds it and exits. One verb is one file with one options struct
// and one run function. A verb parses, makes one call to a keeper, prints:
// whatever needs an "if" about the domain belongs below.
//
// # Rules of output
//
// Results go to stdout, everything else to stderr. --json prints one object, or
// one object per line for lists; its fields are a contract. Colours appear only
// on a terminal and without NO_COLOR. Text that somebody else wrote is escaped
// before it reaches a terminal. An error ends with what to type next, and its
// exit code comes from one table ([exitCodes]).
package main
