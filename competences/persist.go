package competences

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"arkamsg/competences/candidate"
	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
	"arkamsg/competences/slug"
	"arkamsg/competences/strictjson"
	"arkamsg/internal/clients"
	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

// Answer is what a persist gives back. The body is the same, byte by byte,
// each time the key comes again.
type Answer struct {
	Body     []byte // JSON
	Created  bool   // 201; otherwise a replay, 200
	Mismatch bool   // a replay whose body was another one
}

// key identifies a persist: sha256 of machine and persist id.
type key [sha256.Size]byte

func (k key) hex() string { return hex.EncodeToString(k[:]) }

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// keyOf reads the key out of a body that nothing has judged yet. Without a
// well-formed persist_id there is nothing to repeat.
func keyOf(machine string, body map[string]any) (key, bool) {
	meta, _ := body["learning_metadata"].(map[string]any)
	id, _ := meta["persist_id"].(string)
	id = strings.ToLower(id)
	return sha256.Sum256([]byte(machine + "\x00" + id)), uuid4.MatchString(id)
}

// caller is on whose behalf something is kept.
type caller struct {
	machine string
	still   func(*sqlite.Tx) error // repeated inside the write
}

// PersistLocal is Persist for a person at this machine, who needs no token: the
// files are theirs. The machine is the one that the body names.
func (s *Service) PersistLocal(ctx context.Context, raw []byte) (Answer, error) {
	return s.take(ctx, raw, func(named string) (caller, error) {
		return caller{named, func(*sqlite.Tx) error { return nil }}, nil
	})
}

// Persist takes in a competence. The checks before it (host, token, media
// type, size) are the door's; from here on the order is the issue's: parsing
// and machine_id, machine, replay, rate, the body (package candidate), the
// name, the write. Its error is a *refusal.Refusal.
//
// Once appended, the work is finished even if ctx ends.
func (s *Service) Persist(ctx context.Context, p clients.Principal, raw []byte) (Answer, error) {
	return s.take(ctx, raw, func(named string) (caller, error) {
		if named != p.MachineID {
			return caller{}, refusal.New(refusal.MachineMismatch, errkind.Refused, "the token belongs to another machine")
		}
		return caller{named, func(tx *sqlite.Tx) error { return s.auth.Still(tx, p) }}, nil
	})
}

// take parses, finds out who asks, and serialises requests of one key.
func (s *Service) take(ctx context.Context, raw []byte, admit func(machine string) (caller, error)) (Answer, error) {
	body, err := strictjson.Object(raw, strictjson.Default)
	if err != nil {
		return Answer{}, refusal.New(refusal.InvalidJSON, errkind.Invalid, "%v", err)
	}
	machine, _ := body["machine_id"].(string)
	if machine == "" {
		return Answer{}, refusal.New(refusal.MachineIDMissing, errkind.Invalid, "machine_id is missing").
			With(errkind.Problem{Field: "/machine_id", Message: "is missing or not a text"})
	}
	who, err := admit(machine)
	if err != nil {
		return Answer{}, err
	}
	k, repeatable := keyOf(machine, body)
	if !repeatable {
		return Answer{}, s.refuseUnkeyed(machine, body)
	}
	unlock, err := s.keys.lock(ctx, string(k[:]))
	if err != nil {
		return Answer{}, unknown(err)
	}
	defer unlock()
	return s.persist(ctx, who, k, body)
}

// refuseUnkeyed spends the call and says what is wrong with a body that has no
// usable persist_id: the schema refuses it.
func (s *Service) refuseUnkeyed(machine string, body map[string]any) error {
	if err := s.spend(machine); err != nil {
		return err
	}
	if _, err := candidate.Check(body, s.rules()); err != nil {
		return err
	}
	return refusal.New(refusal.SchemaInvalid, errkind.Invalid, "persist_id must be a UUID v4")
}

func (s *Service) spend(machine string) error {
	wait, ok := s.rate.take(machine, s.settings.Load().PerMinute)
	if ok {
		return nil
	}
	r := refusal.New(refusal.RateLimited, errkind.NotNow, "too many persists of this machine within a minute")
	r.RetryAfter = wait
	return r
}

// persist runs with the key locked in this process.
func (s *Service) persist(ctx context.Context, who caller, k key, body map[string]any) (Answer, error) {
	canonical, err := strictjson.Canonical(body)
	if err != nil {
		return Answer{}, refusal.New(refusal.InvalidJSON, errkind.Invalid, "the body has no canonical form")
	}
	payload := sha256.Sum256(canonical)
	if a, found, err := s.replay(ctx, k, payload); found || err != nil {
		return a, err
	}
	if err := s.spend(who.machine); err != nil {
		return Answer{}, err
	}
	work, err := s.judge(who, k, body)
	if err != nil {
		return Answer{}, err
	}
	a, err := s.create(ctx, who, k, payload, work)
	if errors.Is(err, errRaced) || errors.Is(err, errTaken) {
		// whoever took the key, or the name, may be this very request in
		// another process
		if first, found, again := s.replay(ctx, k, payload); found || again != nil {
			return first, again
		}
		return Answer{}, asRefusal(err)
	}
	return a, err
}

// judge makes a body into work, or says what is wrong with it.
func (s *Service) judge(who caller, k key, body map[string]any) (*prepared, error) {
	c, err := candidate.Check(body, s.rules())
	if err != nil {
		return nil, err
	}
	if c.Demoted != "" {
		s.log.Info("learning_state not granted", "asked", c.Demoted, "granted", string(c.Source.State), "machine_id", who.machine, "persist_id", c.PersistID)
	}
	return prepare(k, c.Source)
}

// create writes under the lock of the name.
func (s *Service) create(ctx context.Context, who caller, k key, payload [32]byte, work *prepared) (Answer, error) {
	unlock, err := s.names.lock(ctx, string(work.doc.ID))
	if err != nil {
		return Answer{}, unknown(err)
	}
	defer unlock()
	if err := s.nameFree(ctx, work.doc.ID); err != nil {
		return Answer{}, err
	}
	return s.write(context.WithoutCancel(ctx), who, k, payload, work)
}

// errRaced says that another process began a persist of this key meanwhile; its
// outcome is the answer.
var errRaced = errkind.New(errkind.Conflict, "another process has this key in hand")

// replay answers from the record. A persist in flight elsewhere is waited for.
func (s *Service) replay(ctx context.Context, k key, payload [32]byte) (a Answer, found bool, err error) {
	row, err := s.row(ctx, k)
	if err == nil && row.state == pending {
		row, err = s.finish(ctx, k, row)
	}
	if err != nil {
		return Answer{}, false, unknown(err)
	}
	if row.state != done {
		return Answer{}, false, nil
	}
	a = Answer{Body: row.response, Mismatch: string(row.payload) != string(payload[:])}
	if a.Mismatch {
		s.log.Warn("persist_id came again with another body", "message_id", string(row.message))
		if s.settings.Load().MismatchConflict {
			return Answer{}, true, refusal.New(refusal.IdempotencyMismatch, errkind.Conflict, "this persist_id was used for another body")
		}
	}
	return a, true, nil
}

// nameFree looks for the slug in every folder. It lets most collisions be
// answered before anything is written; link(2) has the last word. An unlearning
// is the better answer of the two; without a file the write finds it.
func (s *Service) nameFree(ctx context.Context, id slug.Slug) error {
	for _, folder := range document.Folders {
		there, err := s.disk.exists(document.File(folder, id))
		if err != nil {
			return s.failed("look", err)
		}
		if there {
			err := s.journal.DB().Read(ctx, func(tx *sqlite.Tx) error { return unlearningBlocks(tx, id) })
			return asRefusal(cmp.Or(err, error(errTaken)))
		}
	}
	return nil
}

// write appends the event, takes it in hand in the same transaction, and does
// the work.
func (s *Service) write(ctx context.Context, who caller, k key, payload [32]byte, work *prepared) (Answer, error) {
	id := work.doc.ID
	row := row{state: pending, lane: laneOf(id), payload: payload[:]}
	var t journal.Ticket
	err := s.journal.Update(ctx, func(tx *journal.Tx) (err error) {
		if err := who.still(tx.SQL()); err != nil {
			return err
		}
		if err := unlearningBlocks(tx.SQL(), id); err != nil {
			return err
		}
		if row, err = openRow(tx.SQL(), k, row); err != nil {
			return err
		}
		if t, err = s.append(tx, row, work); errors.Is(err, journal.ErrNoWork) {
			t, err = journal.Ticket{}, nil // another event of this lane comes first
		}
		return err
	})
	if err != nil {
		return Answer{}, s.notAppended(err)
	}
	crash.At("competences:appended")
	return s.drive(ctx, k, row, t, work)
}

func (s *Service) append(tx *journal.Tx, r row, work *prepared) (journal.Ticket, error) {
	if _, err := tx.Append(journal.NewEvent{MessageID: r.message, Kind: journal.KindPersist, Lane: r.lane, Body: work.body}); err != nil {
		return journal.Ticket{}, err
	}
	return tx.Claim(r.lane, s.holder, lease, s.term())
}

// drive does the work in hand, and whatever stood before it in its lane.
func (s *Service) drive(ctx context.Context, k key, r row, t journal.Ticket, work *prepared) (Answer, error) {
	if t.Event.MessageID == r.message {
		response, err := s.apply(ctx, t, work)
		return Answer{Body: response, Created: true}, err
	}
	if t.Event.MessageID != "" {
		if err := s.Route(ctx, t); err != nil {
			return Answer{}, unknown(err)
		}
	}
	end, err := s.finish(ctx, k, r)
	if err != nil {
		return Answer{}, unknown(err)
	}
	if end.state == failed {
		return Answer{}, refusalOf(end.code)
	}
	return Answer{Body: end.response, Created: true}, nil
}

// notAppended sorts out why nothing was appended.
func (s *Service) notAppended(err error) error {
	if refusal.Of(err) != nil || errors.Is(err, errRaced) {
		return err
	}
	if errors.Is(err, clients.ErrToken) {
		return refusal.New(refusal.Unauthenticated, errkind.Refused, "%v", clients.ErrToken)
	}
	if errkind.IsUnknown(err) {
		return unknown(err)
	}
	return s.failed("journal", err)
}

// failed is a 500 that left nothing behind.
func (s *Service) failed(step string, err error) *refusal.Refusal {
	s.log.Error("persist failed", "step", step, "error", err)
	return refusal.New(refusal.PersistFailed, errkind.NotNow, "the competence could not be kept; nothing was kept of it (%s)", step).Because(err)
}

// unknown is a 500 whose effect may yet happen: the same key tells.
func unknown(err error) *refusal.Refusal {
	if r := refusal.Of(err); r != nil {
		return r
	}
	r := refusal.New(refusal.OutcomeUnknown, errkind.NotNow, "the outcome is not known yet; ask again with the same persist_id").Because(err)
	r.Err.AsUnknown()
	return r
}

func asRefusal(err error) error {
	if refusal.Of(err) != nil {
		return err
	}
	return unknown(err)
}

func newUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// order is the body of a competence.persist event: all that the file is made
// from.
type order struct {
	Key    string          `json:"key"`
	Source document.Source `json:"source"`
}

func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
