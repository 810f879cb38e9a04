package journal

import "context"

// Note keeps a line of the holder's with the work, for whoever claims it next:
// the daemon writes down the pane before it types. It outlives adoption and
// retry, and is no history: the next note replaces it. ErrStale: the ticket
// counts no more, and neither does its note.
func (j *Journal) Note(ctx context.Context, t Ticket, note string) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Note(t, note) })
}

// Note is the twin of Journal.Note.
func (tx *Tx) Note(t Ticket, note string) error {
	return tx.one(`UPDATE work SET note = ?6`+inHand, append(t.key(), note)...)
}
