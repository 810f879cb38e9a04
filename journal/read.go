package journal

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"arkamsg/internal/errkind"
)

const eventColumns = `id, message_id, kind, lane, body, counter, test, fact, created_at, hash`

func scanEvent(row scanner) (e Event, d digest, err error) {
	var at int64
	var hash []byte
	err = row.Scan(&e.ID, &e.MessageID, &e.Kind, &e.Lane, &e.Body, &e.Counter, &e.Test, &e.Fact, &at, &hash)
	e.CreatedAt = time.UnixMilli(at)
	d.scan(hash)
	return e, d, err
}

// event finds an event of the journal itself, not of its archives.
func (tx *Tx) event(id MessageID) (Event, error) {
	e, _, err := scanEvent(tx.sql.QueryRow(`SELECT `+eventColumns+` FROM event WHERE message_id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return e, notFound(id)
	}
	return e, err
}

func (tx *Tx) eventByID(id EventID) (Event, error) {
	e, _, err := scanEvent(tx.sql.QueryRow(`SELECT `+eventColumns+` FROM event WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return e, damaged("event %d has work but no row", id)
	}
	return e, err
}

const transitionColumns = `seq, event_id, n, step, at, attempt, fence, term, holder, reason, detail, evidence, result, hash`

func scanTransition(row scanner) (t transition, d digest, err error) {
	var hash []byte
	err = row.Scan(&t.seq, &t.event, &t.n, &t.step, &t.at, &t.attempt, &t.fence, &t.term, &t.holder,
		&t.reason, &t.detail, &t.evidence, &t.result, &hash)
	d.scan(hash)
	return t, d, err
}

func (t transition) public() Transition {
	return Transition{
		At: time.UnixMilli(t.at), State: to[t.step], Attempt: t.attempt, Reason: t.reason, Detail: t.detail,
		Evidence: t.evidence, Holder: t.holder, Term: t.term, Fence: t.fence, Step: t.step,
	}
}

// standing is where an event stands now, by the projections.
func (tx *Tx) standing(e Event) (progress, error) {
	if e.Fact {
		return startOf(e), nil
	}
	var p progress
	err := tx.sql.QueryRow(`SELECT state, attempt, fence, n, reason FROM work WHERE lane = ? AND event_id = ?`, e.Lane, e.ID).
		Scan(&p.state, &p.attempt, &p.fence, &p.n, &p.reason)
	if !errors.Is(err, sql.ErrNoRows) {
		return p, err
	}
	return tx.ended(e)
}

// ended reads the last transition of an event without work.
func (tx *Tx) ended(e Event) (progress, error) {
	t, _, err := scanTransition(tx.sql.QueryRow(`SELECT `+transitionColumns+` FROM transition WHERE event_id = ? ORDER BY n DESC LIMIT 1`, e.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return progress{}, damaged("event %d (%s) has neither work nor history", e.ID, e.MessageID)
	}
	return progress{state: to[t.step], attempt: t.attempt, fence: t.fence, n: t.n, reason: t.reason}, err
}

// Get returns one event with its whole history, from the journal or from the
// archive it was moved to. NotFound: there never was one.
func (j *Journal) Get(ctx context.Context, id MessageID) (r Record, err error) {
	var file string
	err = j.view(ctx, func(tx *Tx) error {
		file = ""
		if r, err = tx.Get(id); errkind.Of(err) == errkind.NotFound {
			file, err = tx.archiveOf(id)
		}
		return err
	})
	if err != nil || file == "" {
		return r, err
	}
	return j.getArchived(ctx, file, id)
}

// Get returns an event of the journal itself, not of its archives.
func (tx *Tx) Get(id MessageID) (Record, error) {
	e, err := tx.event(id)
	if err != nil {
		return Record{}, err
	}
	p, err := tx.standing(e)
	if err != nil {
		return Record{}, err
	}
	r := Record{Event: e, State: p.state, Reason: p.reason, Attempts: p.attempt}
	return r, tx.addHistory(&r)
}

func (tx *Tx) addHistory(r *Record) error {
	rows, err := tx.sql.Query(`SELECT `+transitionColumns+` FROM transition WHERE event_id = ? ORDER BY n`, r.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		t, _, err := scanTransition(rows)
		if err != nil {
			return err
		}
		r.History = append(r.History, t.public())
		if t.result != nil {
			r.Result = t.result
		}
	}
	r.FinishedAt = finishedAt(*r)
	return rows.Err()
}

func finishedAt(r Record) time.Time {
	switch {
	case r.State != Delivered && r.State != Failed:
		return time.Time{}
	case r.Fact:
		return r.CreatedAt
	}
	for i := len(r.History) - 1; i >= 0; i-- { // clearing a dead letter is not its end
		if r.History[i].Step != StepClear {
			return r.History[i].At
		}
	}
	return time.Time{}
}

// Exists reports which of the ids are known, here or in an archive.
func (j *Journal) Exists(ctx context.Context, ids ...MessageID) (known map[MessageID]bool, err error) {
	err = j.view(ctx, func(tx *Tx) error {
		known = make(map[MessageID]bool, len(ids))
		for _, id := range ids {
			var yes bool
			err := tx.sql.QueryRow(`SELECT EXISTS(SELECT 1 FROM event WHERE message_id = ?1)
				OR EXISTS(SELECT 1 FROM archived WHERE message_id = ?1)`, id).Scan(&yes)
			if err != nil {
				return err
			}
			known[id] = yes
		}
		return nil
	})
	return known, err
}

// Filter chooses events. Zero fields choose all.
type Filter struct {
	States       []State
	Kinds        []Kind
	Lane         Lane
	Since        time.Time
	AfterID      EventID
	Limit        int  // 0: 1000
	Newest       bool // the newest Limit instead of the first; still oldest first
	IncludeTests bool
}

// listEvents is made so that the state is read, not folded: work, or the last
// transition, or a fact.
const listEvents = `SELECT * FROM (SELECT ` + eventColumns + `,
	CASE WHEN fact THEN 'delivered' ELSE coalesce(
		(SELECT state FROM work w WHERE w.lane = e.lane AND w.event_id = e.id),
		(SELECT CASE step WHEN 'deliver' THEN 'delivered' ELSE 'failed' END FROM transition t WHERE t.event_id = e.id ORDER BY n DESC LIMIT 1)) END AS state,
	coalesce((SELECT reason FROM work w WHERE w.lane = e.lane AND w.event_id = e.id),
		(SELECT reason FROM transition t WHERE t.event_id = e.id ORDER BY n DESC LIMIT 1), '') AS reason,
	coalesce((SELECT attempt FROM work w WHERE w.lane = e.lane AND w.event_id = e.id),
		(SELECT attempt FROM transition t WHERE t.event_id = e.id ORDER BY n DESC LIMIT 1), 0) AS attempt,
	coalesce((SELECT at FROM transition t WHERE t.event_id = e.id AND step <> 'clear' ORDER BY n DESC LIMIT 1), created_at) AS at
	FROM event e) WHERE `

// Events lists events of the journal, oldest first, without their history.
// Archived events are found by Get only.
func (j *Journal) Events(ctx context.Context, f Filter) (out []Record, err error) {
	query, args := f.query()
	err = j.view(ctx, func(tx *Tx) error {
		out, err = tx.list(query, args)
		return err
	})
	if f.Newest {
		slices.Reverse(out)
	}
	return out, err
}

func (f Filter) query() (string, []any) {
	where, args := []string{`id > ?`}, []any{f.AfterID}
	and := func(cond string, vs ...any) {
		where, args = append(where, cond), append(args, vs...)
	}
	if !f.IncludeTests {
		and(`test = 0`)
	}
	if !f.Since.IsZero() {
		and(`created_at >= ?`, f.Since.UnixMilli())
	}
	if f.Lane != "" {
		and(`lane = ?`, f.Lane)
	}
	if len(f.States) > 0 {
		and(`state IN (`+marks(len(f.States))+`)`, anys(f.States)...)
	}
	if len(f.Kinds) > 0 {
		and(`kind IN (`+marks(len(f.Kinds))+`)`, anys(f.Kinds)...)
	}
	order := ` ORDER BY id`
	if f.Newest {
		order += ` DESC`
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 1000
	}
	return listEvents + strings.Join(where, ` AND `) + order + ` LIMIT ?`, append(args, limit)
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

func anys[T any](in []T) []any {
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = v
	}
	return out
}

func (tx *Tx) list(query string, args []any) (out []Record, err error) {
	rows, err := tx.sql.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanListed(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func scanListed(rows *sql.Rows) (r Record, err error) {
	var created, at int64
	var hash []byte
	err = rows.Scan(&r.ID, &r.MessageID, &r.Kind, &r.Lane, &r.Body, &r.Counter, &r.Test, &r.Fact, &created, &hash,
		&r.State, &r.Reason, &r.Attempts, &at)
	r.CreatedAt = time.UnixMilli(created)
	if r.State == Delivered || r.State == Failed {
		r.FinishedAt = time.UnixMilli(at)
	}
	return r, err
}
