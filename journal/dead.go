package journal

import (
	"context"
	"errors"
	"strings"
	"time"

	"arkamsg/internal/errkind"
)

// DeadLetter is work that failed and that nobody has revived or cleared.
type DeadLetter struct {
	Event
	Reason   Reason
	Detail   string
	Evidence string
	Attempts int
	At       time.Time
}

// DeadFilter chooses dead letters. Zero fields choose all.
type DeadFilter struct {
	ID        MessageID
	Reason    Reason
	Lane      Lane
	OlderThan time.Time // those that failed before
	Limit     int       // 0: 1000
}

// Dead lists dead letters, oldest first.
func (j *Journal) Dead(ctx context.Context, f DeadFilter) (out []DeadLetter, err error) {
	query, args := f.query()
	err = j.view(ctx, func(tx *Tx) error {
		out, err = tx.dead(query, args)
		return err
	})
	return out, err
}

func (f DeadFilter) query() (string, []any) {
	where, args := []string{`1`}, []any{}
	and := func(cond string, v any) { where, args = append(where, cond), append(args, v) }
	if f.ID != "" {
		and(`e.message_id = ?`, f.ID)
	}
	if f.Reason != "" {
		and(`d.reason = ?`, f.Reason)
	}
	if f.Lane != "" {
		and(`d.lane = ?`, f.Lane)
	}
	if !f.OlderThan.IsZero() {
		and(`d.at < ?`, f.OlderThan.UnixMilli())
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 1000
	}
	return `SELECT e.id, e.message_id, e.kind, e.lane, e.body, e.counter, e.test, e.fact, e.created_at, e.hash,
		d.reason, t.detail, t.evidence, t.attempt, d.at
		FROM dead d JOIN event e ON e.id = d.event_id JOIN transition t ON t.seq = d.seq
		WHERE ` + strings.Join(where, ` AND `) + ` ORDER BY d.seq LIMIT ?`, append(args, limit)
}

func (tx *Tx) dead(query string, args []any) (out []DeadLetter, err error) {
	rows, err := tx.sql.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d DeadLetter
		var created, at int64
		var hash []byte
		err := rows.Scan(&d.ID, &d.MessageID, &d.Kind, &d.Lane, &d.Body, &d.Counter, &d.Test, &d.Fact, &created, &hash,
			&d.Reason, &d.Detail, &d.Evidence, &d.Attempts, &at)
		if err != nil {
			return nil, err
		}
		d.CreatedAt, d.At = time.UnixMilli(created), time.UnixMilli(at)
		out = append(out, d)
	}
	return out, rows.Err()
}

// RetryDead queues a dead letter again under its own id, with attempts counted
// from 0 and the fence going on, so that marks of the earlier attempts still
// tell what arrived. NotFound, or Conflict when it is no dead letter.
func (j *Journal) RetryDead(ctx context.Context, id MessageID) (r Receipt, err error) {
	err = j.Update(ctx, func(tx *Tx) error {
		r, err = tx.RetryDead(id)
		return err
	})
	return r, err
}

// RetryDead is the twin of Journal.RetryDead.
func (tx *Tx) RetryDead(id MessageID) (Receipt, error) {
	e, p, err := tx.bury(id, StepRevive, "tried again by hand")
	if err != nil {
		return Receipt{}, err
	}
	tx.appended = true
	return Receipt{MessageID: id, EventID: e.ID, State: Queued}, tx.insertWork(e, p)
}

// ClearDead lets a dead letter go and keeps why.
func (j *Journal) ClearDead(ctx context.Context, id MessageID, why string) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.ClearDead(id, why) })
}

// ClearDead is the twin of Journal.ClearDead.
func (tx *Tx) ClearDead(id MessageID, why string) error {
	_, _, err := tx.bury(id, StepClear, why)
	return err
}

// bury takes an event out of the dead letters by the step.
func (tx *Tx) bury(id MessageID, s Step, detail string) (Event, progress, error) {
	e, err := tx.event(id)
	if err != nil {
		return e, progress{}, err
	}
	if err := tx.one(`DELETE FROM dead WHERE event_id = ?`, e.ID); err != nil {
		if errors.Is(err, ErrStale) {
			err = errkind.New(errkind.Conflict, "%q is not a dead letter", string(id)).WithHint("arkamsg show %s", string(id))
		}
		return e, progress{}, err
	}
	p, err := tx.ended(e)
	if err != nil {
		return e, p, err
	}
	reason := p.reason
	if s == StepRevive {
		reason = ""
	}
	p.advance(s)
	_, err = tx.record(transition{event: e.ID, n: p.n, step: s, attempt: p.attempt, fence: p.fence, reason: reason, detail: detail}, e.Kind, e.Test)
	return e, p, err
}
