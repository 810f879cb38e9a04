// Package plaintext knows which characters may travel and how to show the rest.
//
// A message ends in a terminal where an agent, or a person, acts on what it
// sees. Text that moves the cursor, hides itself or reads differently from
// what it says is therefore an attack or an accident, and both are treated
// alike: refused at the door, with the byte offset and the name of the
// character, never stripped (RELIABILITY rule 7).
//
// The list is an allow-list. [Check] accepts printable Unicode, LF and TAB;
// [CheckLine] the same without LF and TAB. Everything else is refused: C0 and
// C1 controls, DEL, NEL, the line and paragraph separators, bidirectional
// controls, zero-width and other invisible characters, private use,
// noncharacters, unassigned code points and bytes that are not UTF-8.
// Joiners, variation selectors and tags are accepted only where they form an
// emoji.
//
// There are two ways out. [Sanitize] turns each refused character into a
// visible escape (`\x1b`, `\u202e`) for people who paste logs; its result
// always passes [Check]. [EscapeText] and [EscapeLine] do the same at every
// exit (terminal, log, page) for text that came past no door of ours, such as
// the name of a file; [EscapeJSON] does it for what JSON leaves raw.
// [Normalize] turns CRLF into LF; it is explicit because a changed text is a
// different text, and it must happen where the sender can still be told.
package plaintext
