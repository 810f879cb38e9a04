package journal

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"arkamsg/internal/errkind"
)

// transition is a row of that table.
type transition struct {
	seq      int64
	event    EventID
	n        int64
	step     Step
	at       int64
	attempt  int
	fence    Fence
	term     Term
	holder   Holder
	reason   Reason
	detail   string
	evidence string
	result   []byte
}

// termHolds is the part of every statement of the daemon that refuses a zombie:
// ?1 is its term, 0 for holders that are not the daemon (RELIABILITY 4).
const termHolds = `(?1 = 0 OR EXISTS(SELECT 1 FROM leader WHERE term = ?1 AND live = 1))`

// inHand is the rest: the row must still be dispatched to this holder under this
// fence. ?2 lane, ?3 event, ?4 fence, ?5 holder.
const inHand = ` WHERE lane = ?2 AND event_id = ?3 AND state = 'dispatched' AND fence = ?4 AND holder = ?5
	AND term = ?1 AND ` + termHolds

func (t Ticket) key() []any {
	return []any{t.Term, t.Event.Lane, t.Event.ID, t.Fence, t.Holder}
}

// Claim takes the head of a lane in hand. Queued work that is due is a new
// attempt. Work of a daemon of an older term, or of this term with its lease run
// out, is adopted by a daemon: same attempt, higher fence, Adopted set. Work of
// others is taken over as a new attempt when its lease has run out. ErrNoWork:
// nothing of the kind. ErrStale: term no longer leads.
func (j *Journal) Claim(ctx context.Context, lane Lane, h Holder, ttl time.Duration, term Term) (t Ticket, err error) {
	err = j.Update(ctx, func(tx *Tx) error {
		t, err = tx.Claim(lane, h, ttl, term)
		return err
	})
	return t, err
}

// ClaimEvent claims one event wherever it stands in its lane, for work whose
// order does not matter (jobs). Otherwise as Claim.
func (j *Journal) ClaimEvent(ctx context.Context, id MessageID, h Holder, ttl time.Duration, term Term) (t Ticket, err error) {
	err = j.Update(ctx, func(tx *Tx) error {
		t, err = tx.ClaimEvent(id, h, ttl, term)
		return err
	})
	return t, err
}

// Claim is the twin of Journal.Claim.
func (tx *Tx) Claim(lane Lane, h Holder, ttl time.Duration, term Term) (Ticket, error) {
	return tx.claim(headOfLane, lane, 0, h, ttl, term)
}

// ClaimEvent is the twin of Journal.ClaimEvent.
func (tx *Tx) ClaimEvent(id MessageID, h Holder, ttl time.Duration, term Term) (Ticket, error) {
	e, err := tx.event(id)
	if err != nil {
		return Ticket{}, err
	}
	return tx.claim(thisEvent, e.Lane, e.ID, h, ttl, term)
}

const (
	headOfLane = `event_id = (SELECT event_id FROM work WHERE lane = ?2 ORDER BY event_id LIMIT 1)`
	thisEvent  = `event_id = ?8`
)

// claimable: ?6 is the boot clock, ?7 this boot; due times and leases of another
// boot are over.
const claimable = `(state = 'queued' AND (due <= ?6 OR boot <> ?7)
	OR state = 'dispatched' AND (lease_until <= ?6 OR boot <> ?7 OR term > 0 AND ?1 > term))`

// claimWork sets adopted when a daemon takes over what a daemon had in hand.
// The right sides see the row as it was.
const claimWork = `UPDATE work SET
	adopted = (state = 'dispatched' AND term > 0 AND ?1 > 0),
	attempt = attempt + NOT (state = 'dispatched' AND term > 0 AND ?1 > 0),
	reason  = iif(state = 'dispatched' AND term > 0 AND ?1 > 0, reason, ''),
	state = 'dispatched', fence = fence + 1, n = n + 1, term = ?1, holder = ?3,
	lease_until = ?6 + ?4, boot = ?7, due = 0, since = ?5
	WHERE lane = ?2 AND `

const claimed = ` RETURNING event_id, n, attempt, fence, adopted, note`

func (tx *Tx) claim(which string, lane Lane, id EventID, h Holder, ttl time.Duration, term Term) (Ticket, error) {
	if h == "" || ttl <= 0 {
		return Ticket{}, errkind.New(errkind.Invalid, "a claim needs a holder and a lease of some length")
	}
	boot, now := tx.j.clock.Boot()
	args := []any{term, lane, h, ttl, tx.nowMilli(), now, boot}
	if which == thisEvent {
		args = append(args, id)
	}
	t := Ticket{Holder: h, Term: term, LeaseUntil: tx.j.clock.Wall().Add(ttl)}
	var n int64
	err := tx.sql.QueryRow(claimWork+which+` AND `+termHolds+` AND `+claimable+claimed, args...).
		Scan(&t.Event.ID, &n, &t.Attempt, &t.Fence, &t.Adopted, &t.Note)
	if errors.Is(err, sql.ErrNoRows) {
		return Ticket{}, tx.whyNoWork(term)
	}
	if err != nil {
		return Ticket{}, err
	}
	return tx.recordClaim(t, n)
}

// whyNoWork tells a daemon that lost its term from an idle lane.
func (tx *Tx) whyNoWork(term Term) error {
	var holds bool
	if err := tx.sql.QueryRow(`SELECT `+termHolds, term).Scan(&holds); err != nil {
		return err
	}
	if !holds {
		return ErrStale
	}
	return ErrNoWork
}

func (tx *Tx) recordClaim(t Ticket, n int64) (Ticket, error) {
	step := StepClaim
	if t.Adopted {
		step = StepAdopt
	}
	var err error
	if t.Event, err = tx.eventByID(t.Event.ID); err != nil {
		return Ticket{}, err
	}
	t.Claim, err = tx.record(transition{
		event: t.Event.ID, n: n, step: step, attempt: t.Attempt, fence: t.Fence, term: t.Term, holder: t.Holder,
	}, t.Event.Kind, t.Event.Test)
	return t, err
}

// Extend prolongs the lease to ttl from now. No history: only the last lease
// counts.
func (j *Journal) Extend(ctx context.Context, t Ticket, ttl time.Duration) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Extend(t, ttl) })
}

// Extend is the twin of Journal.Extend.
func (tx *Tx) Extend(t Ticket, ttl time.Duration) error {
	boot, now := tx.j.clock.Boot()
	return tx.one(`UPDATE work SET lease_until = ?6, boot = ?7`+inHand, append(t.key(), now+ttl, boot)...)
}

// Wait notes what the ticket waits for, for status; "" ends the waiting. A
// projection only: history does not say how often somebody looked.
func (j *Journal) Wait(ctx context.Context, t Ticket, r Reason) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Wait(t, r) })
}

// Wait is the twin of Journal.Wait. The same reason again keeps the time since.
func (tx *Tx) Wait(t Ticket, r Reason) error {
	return tx.one(`UPDATE work SET since = iif(reason = ?6, since, ?7), reason = ?6`+inHand, append(t.key(), r, tx.nowMilli())...)
}

// one runs a statement that must change one row; ErrStale if it does not.
func (tx *Tx) one(query string, args ...any) error {
	res, err := tx.sql.Exec(query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n != 1 {
		err = ErrStale
	}
	return err
}

// Deliver ends the work well. ErrStale: the ticket counts no more.
func (j *Journal) Deliver(ctx context.Context, t Ticket, o Outcome) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Deliver(t, o) })
}

// Deliver is the twin of Journal.Deliver.
func (tx *Tx) Deliver(t Ticket, o Outcome) error {
	_, err := tx.end(t, transition{step: StepDeliver, detail: o.Detail, evidence: o.Evidence, result: o.Result})
	return err
}

// Retry puts the work back for another attempt, not before after has passed.
func (j *Journal) Retry(ctx context.Context, t Ticket, r Reason, detail string, after time.Duration) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Retry(t, r, detail, after) })
}

// Retry is the twin of Journal.Retry.
func (tx *Tx) Retry(t Ticket, r Reason, detail string, after time.Duration) error {
	if err := r.validate(); err != nil {
		return err
	}
	boot, now := tx.j.clock.Boot()
	row := tx.sql.QueryRow(`UPDATE work SET state = 'queued', holder = '', term = 0, adopted = 0, n = n + 1,
		due = ?6, boot = ?7, lease_until = 0, reason = ?8, since = ?9`+inHand+worked,
		append(t.key(), now+after, boot, r, tx.nowMilli())...)
	_, err := tx.recordEnd(row, t, transition{step: StepRetry, reason: r, detail: detail})
	return err
}

// Fail ends the work badly: it becomes a dead letter.
func (j *Journal) Fail(ctx context.Context, t Ticket, r Reason, o Outcome) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Fail(t, r, o) })
}

// Fail is the twin of Journal.Fail.
func (tx *Tx) Fail(t Ticket, r Reason, o Outcome) error {
	if err := r.validate(); err != nil {
		return err
	}
	seq, err := tx.end(t, transition{step: StepFail, reason: r, detail: o.Detail, evidence: o.Evidence, result: o.Result})
	if err != nil {
		return err
	}
	_, err = tx.sql.Exec(`INSERT INTO dead(seq, event_id, lane, reason, at, test) VALUES(?,?,?,?,?,?)`,
		seq, t.Event.ID, t.Event.Lane, r, tx.nowMilli(), bit(t.Event.Test))
	return err
}

func (r Reason) validate() error {
	if reasonGrammar.MatchString(string(r)) {
		return nil
	}
	return errkind.New(errkind.Invalid, "reason %q: lower-case letters, digits, '_' and '.', at most 64", string(r))
}

// worked is what the last statement of an attempt says about the row.
const worked = ` RETURNING n, attempt, kind, test`

// end removes work that is in hand and records why.
func (tx *Tx) end(t Ticket, tr transition) (seq int64, err error) {
	row := tx.sql.QueryRow(`DELETE FROM work`+inHand+` RETURNING n + 1, attempt, kind, test`, t.key()...)
	return tx.recordEnd(row, t, tr)
}

type scanner interface{ Scan(...any) error }

func (tx *Tx) recordEnd(row scanner, t Ticket, tr transition) (int64, error) {
	var kind Kind
	var test bool
	err := row.Scan(&tr.n, &tr.attempt, &kind, &test)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrStale
	}
	if err != nil {
		return 0, err
	}
	tr.event, tr.fence, tr.term, tr.holder = t.Event.ID, t.Fence, t.Term, t.Holder
	return tx.record(tr, kind, test)
}

// record adds a transition to the chain and counts it.
func (tx *Tx) record(t transition, k Kind, test bool) (seq int64, err error) {
	if err := tx.transitionTail(); err != nil {
		return 0, err
	}
	t.seq, t.at = tx.transitions.seq+1, tx.nowMilli()
	d := hashTransition(tx.transitions.hash, t)
	_, err = tx.sql.Exec(`INSERT INTO transition(seq, event_id, n, step, at, attempt, fence, term, holder, reason, detail, evidence, result, hash)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		t.seq, t.event, t.n, t.step, t.at, t.attempt, t.fence, t.term, t.holder, t.reason, t.detail, t.evidence, t.result, d[:])
	if err != nil {
		return 0, err
	}
	tx.transitions = &link{t.seq, d}
	return t.seq, tx.count(countersOfStep(k, test, t.step, t.reason))
}

// Cancel ends work that is queued or in hand, without a ticket: a person's
// decision. It is no dead letter. The ticket of whoever holds it is stale then.
func (j *Journal) Cancel(ctx context.Context, id MessageID, detail string) error {
	return j.Update(ctx, func(tx *Tx) error { return tx.Cancel(id, detail) })
}

// Cancel is the twin of Journal.Cancel. Conflict: there is no work left.
func (tx *Tx) Cancel(id MessageID, detail string) error {
	e, err := tx.event(id)
	if err != nil {
		return err
	}
	tr := transition{event: e.ID, step: StepCancel, reason: ReasonCancelled, detail: detail}
	err = tx.sql.QueryRow(`DELETE FROM work WHERE lane = ? AND event_id = ? RETURNING n + 1, attempt, fence, term, holder`, e.Lane, e.ID).
		Scan(&tr.n, &tr.attempt, &tr.fence, &tr.term, &tr.holder)
	if errors.Is(err, sql.ErrNoRows) {
		return errkind.New(errkind.Conflict, "%q has ended already", string(id)).WithHint("arkamsg show %s", string(id))
	}
	if err != nil {
		return err
	}
	_, err = tx.record(tr, e.Kind, e.Test)
	return err
}
