package shadow

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"arkamsg/competences/pii"
	"arkamsg/competences/refusal"
	"arkamsg/internal/clients"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Keep is how long a stopped session can still be built.
const Keep = 30 * 24 * time.Hour

// maxEvents bounds a session.
const maxEvents = 20_000

// Authority repeats an authentication inside a transaction (clients.Store).
type Authority interface {
	Still(tx *sqlite.Tx, p clients.Principal) error
}

// Store keeps sessions in the journal's database.
type Store struct {
	db   *sqlite.DB
	auth Authority
	net  func() *pii.Detector
}

// Open brings the tables up to date. net is the net for personal data in
// force; nil for the built-in one.
func Open(ctx context.Context, db *sqlite.DB, auth Authority, net func() *pii.Detector) (*Store, error) {
	if net == nil {
		net = pii.Default
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return &Store{db, auth, net}, db.Migrate(ctx, "shadow", files)
}

// Session is a session without its events.
type Session struct {
	ID        string    `json:"session_id"`
	MachineID string    `json:"machine_id"`
	Name      string    `json:"name"`
	Intent    string    `json:"intent"`
	State     string    `json:"state"` // open, stopped
	NextSeq   int64     `json:"next_seq"`
	Revision  int64     `json:"revision"`
	StartedAt time.Time `json:"started_at"`
	StoppedAt time.Time `json:"stopped_at,omitzero"`

	lastT int64
}

// write runs fn in a transaction in which the caller is still who they were.
func (s *Store) write(ctx context.Context, p clients.Principal, fn func(tx *sqlite.Tx) error) error {
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := s.auth.Still(tx, p); err != nil {
			return err
		}
		return fn(tx)
	})
	return asRefusal(err)
}

func asRefusal(err error) error {
	switch {
	case err == nil, refusal.Of(err) != nil:
		return err
	case errors.Is(err, clients.ErrToken):
		return refusal.New(refusal.Unauthenticated, errkind.Refused, "%v", clients.ErrToken)
	}
	return refusal.New(refusal.OutcomeUnknown, errkind.NotNow, "the session could not be read or written").Because(err)
}

// Start opens a session. One machine has one open session.
func (s *Store) Start(ctx context.Context, p clients.Principal, raw []byte) (out Session, err error) {
	var req struct {
		MachineID string `json:"machine_id"`
		SessionID string `json:"session_id"`
		Name      string `json:"name"`
		Intent    string `json:"intent_fr"`
	}
	if err := s.parse("start", raw, &req); err != nil {
		return out, err
	}
	if p.MachineID == "" || req.MachineID != p.MachineID {
		return out, refusal.New(refusal.MachineMismatch, errkind.Refused, "the token belongs to another machine")
	}
	if req.SessionID == "" {
		req.SessionID = newSessionID(time.Now())
	}
	err = s.write(ctx, p, func(tx *sqlite.Tx) error {
		now := time.Now()
		if err := sweep(tx, p.MachineID, now.Add(-Keep)); err != nil {
			return err
		}
		res, err := tx.Exec(`INSERT INTO shadow_session(id, machine_id, name, intent, state, started_at) VALUES(?,?,?,?,'open',?) ON CONFLICT DO NOTHING`,
			req.SessionID, p.MachineID, req.Name, req.Intent, now.UnixMilli())
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, refusal.New(refusal.SessionOpen, errkind.Conflict, "this machine has an open session, or the id was used before"))
		}
		out, err = session(tx, p, req.SessionID)
		return err
	})
	return out, err
}

func newSessionID(now time.Time) string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return "sess_" + now.UTC().Format("20060102T150405") + "_" + hex.EncodeToString(b)
}

func sweep(tx *sqlite.Tx, machine string, before time.Time) error {
	const old = ` (SELECT id FROM shadow_session WHERE machine_id = ?1 AND state = 'stopped' AND stopped_at < ?2)`
	for _, stmt := range []string{
		`DELETE FROM shadow_event WHERE session IN` + old,
		`DELETE FROM shadow_feedback WHERE session IN` + old,
		`DELETE FROM shadow_session WHERE id IN` + old,
	} {
		if _, err := tx.Exec(stmt, machine, before.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}

// session reads one that belongs to the caller; to others it does not exist.
func session(tx *sqlite.Tx, p clients.Principal, id string) (s Session, err error) {
	var started, stopped int64
	err = tx.QueryRow(`SELECT id, machine_id, name, intent, state, next_seq, last_t, revision, started_at, stopped_at
		FROM shadow_session WHERE id = ? AND machine_id = ?`, id, p.MachineID).
		Scan(&s.ID, &s.MachineID, &s.Name, &s.Intent, &s.State, &s.NextSeq, &s.lastT, &s.Revision, &started, &stopped)
	if errors.Is(err, sql.ErrNoRows) {
		return s, refusal.New(refusal.NotFound, errkind.NotFound, "this machine has no such session")
	}
	s.StartedAt = time.UnixMilli(started).UTC()
	if stopped > 0 {
		s.StoppedAt = time.UnixMilli(stopped).UTC()
	}
	return s, err
}

// Stop ends a session. Again is no error.
func (s *Store) Stop(ctx context.Context, p clients.Principal, raw []byte) (out Session, err error) {
	var req struct {
		SessionID string `json:"session_id"`
	}
	if err := s.parse("stop", raw, &req); err != nil {
		return out, err
	}
	err = s.write(ctx, p, func(tx *sqlite.Tx) error {
		if _, err := tx.Exec(`UPDATE shadow_session SET state = 'stopped', stopped_at = ? WHERE id = ? AND machine_id = ? AND state = 'open'`,
			time.Now().UnixMilli(), req.SessionID, p.MachineID); err != nil {
			return err
		}
		out, err = session(tx, p, req.SessionID)
		return err
	})
	return out, err
}

// Events adds a batch. seq is the number of its first event, from 1.
func (s *Store) Events(ctx context.Context, p clients.Principal, raw []byte) (out Session, err error) {
	var req struct {
		SessionID string            `json:"session_id"`
		Seq       int64             `json:"seq"`
		Events    []json.RawMessage `json:"events"`
	}
	if err := s.parse("events", raw, &req); err != nil {
		return out, err
	}
	err = s.write(ctx, p, func(tx *sqlite.Tx) error {
		now, err := session(tx, p, req.SessionID)
		if err != nil {
			return err
		}
		if err := now.takes(req.Seq, len(req.Events)); err != nil {
			return err
		}
		lastT, err := s.judge(tx, now, req.Events)
		if err != nil {
			return err
		}
		for i, e := range req.Events {
			if _, err := tx.Exec(`INSERT INTO shadow_event(session, seq, event) VALUES(?,?,?)`, now.ID, req.Seq+int64(i), string(e)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(`UPDATE shadow_session SET next_seq = next_seq + ?, last_t = ? WHERE id = ?`, len(req.Events), lastT, now.ID); err != nil {
			return err
		}
		out, err = session(tx, p, now.ID)
		return err
	})
	return out, err
}

func (s Session) takes(seq int64, n int) error {
	switch {
	case s.State != "open":
		return refusal.New(refusal.SessionClosed, errkind.Conflict, "this session was stopped")
	case seq != s.NextSeq:
		r := refusal.New(refusal.WrongSequence, errkind.Conflict, "the next event of this session has number %d", s.NextSeq)
		r.Expected = s.NextSeq
		return r
	case s.NextSeq+int64(n) > maxEvents:
		return refusal.New(refusal.SessionFull, errkind.Refused, "a session has at most %d events", maxEvents)
	}
	return nil
}

// overlap is how many earlier events are folded together with a batch to find
// what was typed across its edge.
const overlap = 200

// judge checks the times of a batch, and that neither it nor what it completes
// is personal data.
func (s *Store) judge(tx *sqlite.Tx, now Session, batch []json.RawMessage) (lastT int64, err error) {
	before, err := events(tx, now.ID, now.NextSeq-overlap)
	if err != nil {
		return 0, err
	}
	fresh, err := decode(batch)
	if err != nil {
		return 0, err
	}
	lastT = now.lastT
	for i, e := range fresh {
		if e.T < lastT {
			return 0, refusal.New(refusal.SchemaInvalid, errkind.Invalid, "the time of an event lies before the one before it").
				With(errkind.Problem{Field: at("/events", i) + "/t", Message: "falls"})
		}
		lastT = e.T
	}
	for _, step := range fold(append(before, fresh...)).steps {
		if found := s.net().Scan("/events", step.Params); len(found) > 0 {
			return 0, refusal.PII([]pii.Finding{{Type: found[0].Type, Pointer: "/events"}})
		}
	}
	return lastT, nil
}

func events(tx *sqlite.Tx, session string, from int64) (out []Event, err error) {
	rows, err := tx.Query(`SELECT event FROM shadow_event WHERE session = ? AND seq >= ? ORDER BY seq`, session, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}
