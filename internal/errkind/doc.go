// Package errkind is the closed list of ways in which arkamsg can fail.
//
// A keeper decides what went wrong and says so once, as an *[Error] of one
// [Kind]. A door (CLI, HTTP, MCP) never looks into a message: it has one table
// from kind to exit code, status or MCP error, and a test proves that the
// table is complete. A new kind is therefore a decision about every door.
//
// An error that a person will read carries three things: what happened
// ([Error.Message]), everything that is wrong with the input at once
// ([Error.Problems]), and what to type next ([Error.Hint]).
//
// There are three outcomes of a write: accepted, refused, and unknown. A COMMIT,
// an fsync or a tmux command that failed half way may or may not have happened;
// such an error has [Error.Unknown] set, and the only safe repetition is one
// with the same id.
package errkind
