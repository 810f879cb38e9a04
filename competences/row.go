package competences

import (
	"context"
	"fmt"
	"time"

	"arkamsg/competences/refusal"
	"arkamsg/competences/slug"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

// progress of a key; see the package comment for what leads from one to the
// next.
type progress string

const (
	none    progress = ""
	pending progress = "pending"
	done    progress = "done"
	failed  progress = "failed"
)

// row is what is kept about a key.
type row struct {
	generation int
	message    journal.MessageID
	lane       journal.Lane
	payload    []byte
	state      progress
	code       refusal.Code
	response   []byte
}

// messageID derives the event's id from the key. A key whose persist failed
// may try again under the next generation, because an event is for ever.
func messageID(k key, generation int) journal.MessageID {
	if generation == 1 {
		return journal.MessageID("persist:" + k.hex())
	}
	return journal.MessageID(fmt.Sprintf("persist:%s:%d", k.hex(), generation))
}

// laneOf makes persists of one name take turns.
func laneOf(id slug.Slug) journal.Lane { return journal.Lane("persist:" + id) }

// row reads a key; state none if it was never used.
func (s *Service) row(ctx context.Context, k key) (r row, err error) {
	err = s.journal.DB().Read(ctx, func(tx *sqlite.Tx) error {
		r, err = readRow(tx, k)
		return err
	})
	return r, err
}

func readRow(tx *sqlite.Tx, k key) (r row, err error) {
	err = tx.QueryRow(`SELECT generation, message_id, lane, payload, state, code, response FROM competence_persist WHERE key = ?`, k[:]).
		Scan(&r.generation, &r.message, &r.lane, &r.payload, &r.state, &r.code, &r.response)
	if noRows(err) {
		return row{}, nil
	}
	return r, err
}

// openRow begins the next generation of a key. errRaced if another process
// is faster: its persist is then the one that counts.
func openRow(tx *sqlite.Tx, k key, r row) (row, error) {
	before, err := readRow(tx, k)
	if err != nil {
		return row{}, err
	}
	if before.state == pending || before.state == done {
		return row{}, errRaced
	}
	r.generation = before.generation + 1
	r.message = messageID(k, r.generation)
	_, err = tx.Exec(`INSERT INTO competence_persist(key, generation, message_id, lane, payload, state) VALUES(?,?,?,?,?,'pending')
		ON CONFLICT(key) DO UPDATE SET generation = excluded.generation, message_id = excluded.message_id, lane = excluded.lane,
			payload = excluded.payload, state = 'pending', code = '', response = NULL`,
		k[:], r.generation, string(r.message), string(r.lane), r.payload)
	return r, err
}

// closeRow ends the generation that an event belongs to. A later generation is
// left alone.
func closeRow(tx *sqlite.Tx, k key, id journal.MessageID, state progress, code refusal.Code, response []byte) error {
	_, err := tx.Exec(`UPDATE competence_persist SET state = ?, code = ?, response = ? WHERE key = ? AND message_id = ? AND state <> 'done'`,
		string(state), string(code), response, k[:], string(id))
	return err
}

// patience bounds how long a request waits for work in other hands. A dead
// daemon's work is taken over by the next one well within it.
const patience = 20 * time.Second

// look is how often another process's work is looked at; work of this one
// rings.
const look = 25 * time.Millisecond

// finish waits until a pending key has ended, doing the work itself whenever
// nobody else has it in hand.
func (s *Service) finish(ctx context.Context, k key, r row) (row, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	timer := time.NewTicker(look)
	defer timer.Stop()
	for {
		rung := s.finished.wait()
		now, err := s.row(ctx, k)
		if err != nil || now.state != pending {
			return now, err
		}
		t, err := s.journal.Claim(ctx, r.lane, s.holder, lease, s.term())
		switch {
		case err == nil:
			if err := s.Route(context.WithoutCancel(ctx), t); err != nil {
				return row{}, err
			}
			continue
		case errkind.Of(err) != errkind.NotFound:
			return row{}, err
		}
		select {
		case <-rung:
		case <-timer.C:
		case <-ctx.Done():
			return row{}, ctx.Err()
		}
	}
}
