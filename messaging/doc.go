// Package messaging keeps the backlog: the tree of YAML files that people and
// agents write, read and trust (ARKA §3 to §5), and the two short forms in which
// a message is announced, the notify envelope and the chat line (ARKA §2, §10).
//
// # The tree
//
//	<root>/msg/<isoZ—slug>/<STATUS>__from@to__slug.yaml    one message
//	<root>/msg/<isoZ—slug>/Attachments/                    its thread's copies
//	<root>/index/THREADS.md                                written on demand
//	<root>/.outbox/<id>.json                               pushes under way
//
// A thread is a folder, a message is a file, and the file is the truth: the tree
// stays readable without this program, and a file written by hand counts as
// much as one written by [Tree.Publish]. Messages are only ever added. A
// general.yaml, wherever it lies, is neither read nor written.
//
// # Guarantees
//
//   - Nothing is overwritten. A file comes into being by link(2); a second
//     message that would take the same name gets slug-2, and so on.
//   - A message id exists once in its thread: publishing it again finds the
//     first file. Another text under the same id is a Conflict. A file with
//     problems claims no id.
//   - What was published is what is read back, byte for byte. Encode decodes what
//     it wrote before anything reaches the disk; a text that YAML cannot carry is
//     refused, never altered. Line ends are normalised only by
//     [Message.Normalize], at the door.
//   - Reading is safe on any tree. Files are opened relative to an [os.Root],
//     never through links, never waiting, at most [MaxMessageBytes] each. What is
//     hostile or broken becomes an [Entry] with Problems, and names are escaped
//     in every text made for people.
//
// # A file and its event
//
// push writes a file here and an event in the journal; kill -9 can come between.
// [Tree.Intend] therefore writes first, into the outbox, what is about to be
// done, and holds a lock on that entry while its process lives.
// [Intention.Done] removes it. An entry without a living holder is a push that
// died; [Tree.Pending] hands it to the daemon, which does both steps again.
// Both are idempotent by message id, so it does not matter which came first.
// Two pushes of one id take turns at Intend.
package messaging
