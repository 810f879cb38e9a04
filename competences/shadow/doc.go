// Package shadow watches a person work, once, and says what it understood.
//
// # States of a session
//
//	open     from Start; one per machine. Events come in, in order. Stop takes
//	         it out; if nobody stops it, it stays open, over restarts too.
//	stopped  the events are final. The person reads the understanding, corrects
//	         it with feedback (each correction is a revision), and builds.
//
// Sessions lie in the journal's database and survive a restart; those stopped
// for longer than [Keep] are removed when the machine starts another.
//
// # Honest rules
//
// What is said to be understood follows from the events by rules that a person
// can repeat by hand (fold.go), never by guessing:
//
//   - typed keys fold into one type_text, Backspace takes a character back;
//   - Ctrl+C and Ctrl+V are copy and paste, other combinations are key_combo;
//   - a pause of 1.5 s is a wait (for the window that appeared after it, if one
//     did), one of 30 s is a person thinking;
//   - moves without a click are dropped, and counted as such;
//   - a text typed twice is proposed as a parameter, never made one.
//
// Whatever the rules cannot know is listed as a doubt. [Understand] and [Build]
// are pure: the same events and feedback give the same result and hash.
//
// # Failure
//
// A batch of events is kept whole or not at all. Personal data in a batch, also
// when it was typed key by key over several batches, refuses the batch: nothing
// of it is kept. Every write repeats the authentication in its transaction.
package shadow
