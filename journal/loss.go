package journal

import (
	"context"
	"encoding/json"
	"fmt"
)

// loss is the body of the fact that a person accepted damage.
type loss struct {
	Expected reached `json:"expected"`
	Found    reached `json:"found"`
	Damage   string  `json:"damage"`
}

type reached struct {
	Journal    string `json:"journal"`
	Event      int64  `json:"event"`
	Transition int64  `json:"transition"`
}

// AcceptHead makes the journal as it is now the one that counts, on a person's
// word: the head is set to it, also backwards, rows up to here are not held
// against it any more, and a fact of kind loss_accepted says so for ever. Open
// with Options.AcceptLoss, then Rebuild, then this.
//
// The journal gets a new name (ID). Its next events and claims take numbers that
// lost ones had, and panes still bear marks with those numbers: under the old
// name a new message would be taken for one that was typed already.
func (j *Journal) AcceptHead(ctx context.Context) error {
	m, err := j.head.read()
	if err != nil {
		return err
	}
	now := mark{id: newID()}
	err = j.Update(ctx, func(tx *Tx) error {
		if err := tx.acceptLoss(m, now.id); err != nil {
			return err
		}
		now.event, now.transition = *tx.events, *tx.transitions
		return nil
	})
	if err != nil {
		return err
	}
	j.damage, j.id, j.head.id = nil, now.id, now.id
	return j.head.force(now)
}

func (tx *Tx) acceptLoss(m mark, id string) error {
	if err := tx.tails(); err != nil {
		return err
	}
	_, err := tx.sql.Exec(`UPDATE journal SET id = ?, accepted_event = ?, accepted_transition = ?`,
		id, tx.events.seq, tx.transitions.seq)
	if err != nil {
		return err
	}
	body, err := json.Marshal(loss{
		Expected: reached{m.id, m.event.seq, m.transition.seq},
		Found:    reached{tx.j.id, tx.events.seq, tx.transitions.seq},
		Damage:   fmt.Sprint(tx.j.damage),
	})
	if err != nil {
		return err
	}
	_, err = tx.Append(NewEvent{
		MessageID: MessageID(fmt.Sprintf("loss:%s:%d", tx.j.id, tx.events.seq+1)),
		Kind:      KindLoss, Body: body, Fact: true,
	})
	return err
}
