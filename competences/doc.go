// Package competences keeps what machines learn: it takes a persist in, writes
// the competence as a file exactly once, and remembers having done so.
//
// # The path of a persist
//
// [Service.Persist] checks in a fixed order (parsing, machine, replay, rate,
// then package candidate, then the name) and appends a competence.persist
// event. The same transaction repeats the authentication, so a token revoked
// before the commit writes nothing, and takes the event in hand. Then:
//
//	temp file → fsync → link → unlink temp → fsync folder → read back, compare
//	→ one transaction: audit row, answer, delivered → JSONL line
//
// The journal is the intent log. A crash anywhere leaves the event queued or
// dispatched; the daemon's route ([Service.Route]) finishes it at the next
// start, and whoever asks again with the same key gets the recorded answer.
// The document is made from the event alone, so a restart knows its own file
// from a stranger's by comparing bytes.
//
// # States of a key
//
// The idempotency key is (machine_id, persist_id), kept beside the journal:
//
//	pending  appended; Route takes it out. While it lasts, the same key waits.
//	done     the answer is recorded; the same key gets it again, for ever.
//	failed   nothing was kept (name taken meanwhile, disk fault). The same key
//	         may try again: a new event, the next generation.
//
// # Guarantees
//
// A name is given once: link(2) decides, whatever raced before it, and files
// dropped by hand count. An answer 201 or 200 is never given for a file that
// is not durably there. A fault before the link leaves nothing; a fault after
// it takes the file back; when even that fails the event stays and is finished
// later, and the caller is told that the outcome is unknown.
//
// The two JSONL files are copies for other programs: the audit table is the
// truth, the files are repaired from it (torn last line cut, missing lines
// appended) and never rewritten.
//
// Personal data is refused before anything is appended (package pii); nothing
// of it reaches the journal, a file, an answer or the log.
package competences
