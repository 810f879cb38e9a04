// Package standin is a small agent that is not one: it draws a composer, takes
// pasted and typed text, and keeps a record. The demo shows it, `doctor --lab`
// delivers to it, and the tests of delivery judge by its record.
//
// # The record
//
// With --log, each thing that happens is one JSON line, written before the
// screen is redrawn, so that nothing which was seen on the screen is missing
// from the record: "raw" (bytes as they arrived), "paste" (one bracketed frame),
// "submit" (the composer's text when Enter was accepted), "enter" (one that was
// not, with why), "answer" (a key that reached an open dialog: the accident that
// delivery must never cause). Raw bytes are the ground truth; the other lines
// are this program's reading of them.
//
// # Being difficult
//
// The flags give it the habits of real agents: ignoring Enter for a time after a
// burst of input, swallowing the first k Enters, opening a dialog, being busy
// after a submission, drawing a dim suggestion, collapsing a large paste to a
// placeholder, echoing late, wrapping narrowly, leaving.
package standin
