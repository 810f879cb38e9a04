package competences

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"arkamsg/competences/document"
	"arkamsg/competences/refusal"
	"arkamsg/competences/strictjson"
	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/internal/sqlite"
	"arkamsg/journal"
)

// Reasons of ours for work that failed (journal.Reason).
const (
	ReasonExists     journal.Reason = "competence_exists"
	ReasonUnlearning journal.Reason = "unlearning_active"
	ReasonFault      journal.Reason = "persist_failed"
)

// Route does the work of a ticket: the daemon's entry for competence.persist.
// Whatever becomes of it is recorded; an error means that it could not be, and
// that the ticket must be left alone until its lease ends.
func (s *Service) Route(ctx context.Context, t journal.Ticket) error {
	_, err := s.apply(ctx, t, nil)
	if r := refusal.Of(err); r != nil && r.Code != refusal.OutcomeUnknown {
		return nil // recorded
	}
	return err
}

// apply publishes the file and records the answer, or records why not. Its
// error is a *refusal.Refusal: OUTCOME_UNKNOWN when nothing could be recorded.
//
// work is what the event says, when the caller has just prepared it and asked
// in the transaction that appended it what allowed asks.
func (s *Service) apply(ctx context.Context, t journal.Ticket, work *prepared) ([]byte, error) {
	defer s.finished.post()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
	defer cancel()
	fresh := work != nil
	if !fresh {
		var err error
		if work, err = fromEvent(t.Event.Body); err != nil {
			return nil, s.giveUp(ctx, t, key{}, ReasonFault, s.failed("event", err))
		}
	}
	k, d := work.key, work.doc
	if !fresh {
		if err := s.allowed(ctx, t, k, d); err != nil {
			return nil, s.end(ctx, t, k, err)
		}
	}
	if err := s.keep(work, t.Adopted || t.Attempt > 1); err != nil {
		return nil, s.end(ctx, t, k, err)
	}
	crash.At("competences:reloaded")
	response, row, err := s.record(ctx, t, k, d)
	if err != nil {
		s.letGo(ctx, t)
		return nil, unknown(err)
	}
	crash.At("competences:recorded")
	if err := s.audit.add(ctx, row); err != nil {
		s.log.Error("audit export is behind; it is repaired at the next persist or start", "error", err)
	}
	return response, nil
}

// prepared is an order and the file that it asks for.
type prepared struct {
	key  key
	body []byte // of the event
	doc  *document.Document
	data []byte // of the file
}

// prepare makes the event of a new persist, and proves that its file can be
// written before anything promises that it will be.
func prepare(k key, src document.Source) (*prepared, error) {
	src.At = time.Now().UTC().Truncate(time.Millisecond)
	src.Provenance.PersistID = newUUID()
	body, err := strictjson.Canonical(order{Key: k.hex(), Source: src})
	if err != nil {
		return nil, unwritable(err)
	}
	work, err := fromEvent(body)
	if err != nil {
		return nil, unwritable(err)
	}
	return work, nil
}

func unwritable(err error) error {
	return refusal.New(refusal.SchemaInvalid, errkind.Invalid, "the competence cannot be written as a file").With(errkind.Problems(err)...).Because(err)
}

// fromEvent makes the file from the event alone. Every attempt, the first one
// too, comes this way, so that all of them make the same bytes.
func fromEvent(body []byte) (*prepared, error) {
	o, err := decodeOrder(body)
	if err != nil {
		return nil, err
	}
	w := &prepared{body: body, doc: document.Generate(o.Source)}
	raw, err := hex.DecodeString(o.Key)
	if err != nil || len(raw) != len(w.key) {
		return nil, errkind.New(errkind.Damaged, "the event has no key")
	}
	copy(w.key[:], raw)
	w.data, err = document.Encode(w.doc)
	return w, err
}

// decodeOrder keeps numbers as they were written; document.Generate gives each
// its one form.
func decodeOrder(data []byte) (order, error) {
	var o order
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err := dec.Decode(&o)
	return o, err
}

// allowed repeats what may have changed since the door looked: the name is
// being unlearned, or the key went on to another generation (a dead letter
// revived too late).
func (s *Service) allowed(ctx context.Context, t journal.Ticket, k key, d *document.Document) error {
	return s.journal.DB().Read(ctx, func(tx *sqlite.Tx) error {
		r, err := readRow(tx, k)
		if err != nil {
			return err
		}
		if r.message != t.Event.MessageID || r.state == done {
			return errTaken
		}
		return unlearningBlocks(tx, d.ID)
	})
}

// keep puts the document on disk and reads it back. The bytes are compared:
// document.Encode proved that these bytes are the document.
func (s *Service) keep(work *prepared, again bool) error {
	d := work.doc
	if err := s.publish(d, work.data, again); err != nil {
		return err
	}
	crash.At("competences:published")
	name := document.File(d.LearningState, d.ID)
	back, err := s.disk.read(name)
	if err == nil && bytes.Equal(back, work.data) {
		return nil
	}
	return s.takeBack(d.LearningState.Folder(), &fault{step: roundTrip, err: errors.Join(err, errkind.New(errkind.Damaged, "what was read is not what was written"))}, name)
}

// roundTrip is the step of a file that does not read back as it was written.
const roundTrip = "round trip"

// record commits the audit row, the answer and the end of the work together.
func (s *Service) record(ctx context.Context, t journal.Ticket, k key, d *document.Document) (response []byte, r recorded, err error) {
	err = s.journal.Update(ctx, func(tx *journal.Tx) error {
		if err := tx.SQL().QueryRow(`SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'competence_audit'`).Scan(&r.id); err != nil {
			return err
		}
		var err error
		if r.line, r.incomplete, response, err = lines(t, d, r.id); err != nil {
			return err
		}
		if _, err := tx.SQL().Exec(`INSERT INTO competence_audit(id, key, line, incomplete) VALUES(?,?,?,?)`, r.id, k[:], string(r.line), string(r.incomplete)); err != nil {
			return err
		}
		if err := closeRow(tx.SQL(), k, t.Event.MessageID, done, "", response); err != nil {
			return err
		}
		return tx.Deliver(t, journal.Outcome{Detail: "competence " + string(d.ID), Result: response})
	})
	return response, r, err
}

// lines renders the audit line, the second line of a partial learning, and the
// answer.
func lines(t journal.Ticket, d *document.Document, id int64) (line, incomplete, answer []byte, err error) {
	p := d.Provenance
	path := Folder + "/" + document.File(d.LearningState, d.ID)
	e := entry{
		PersistID: p.PersistID, ClientPersistID: p.ClientPersistID, Timestamp: document.Stamp(t.Event.CreatedAt),
		MachineID: p.MachineID, SessionID: p.SessionID, CompetenceName: d.Name, CompetenceID: string(d.ID),
		YAMLPath: path, LearningState: string(d.LearningState), Partial: p.Partial, AuditEntryID: id,
	}
	if p.DropoutReason != "" {
		e.DropoutReason = &p.DropoutReason
	}
	if agent, ok := d.MethodsExecution.ExternalDecision["agent_id"].(string); ok {
		e.ExternalAgentID = &agent
	}
	if line, err = json.Marshal(e); err != nil {
		return nil, nil, nil, err
	}
	if p.Partial {
		incomplete = line
	}
	answer, err = json.Marshal(struct {
		CompetenceID    string `json:"competence_id"`
		YAMLPath        string `json:"yaml_path"`
		LearningState   string `json:"learning_state"`
		PersistID       string `json:"persist_id"`
		ClientPersistID string `json:"client_persist_id"`
		AuditEntryID    int64  `json:"audit_entry_id"`
	}{string(d.ID), path, string(d.LearningState), p.PersistID, p.ClientPersistID, id})
	return line, incomplete, answer, err
}

// end records a refusal or a fault; a fault that could not be cleaned up stays
// work, because there may be a file.
func (s *Service) end(ctx context.Context, t journal.Ticket, k key, err error) error {
	if r := refusal.Of(err); r != nil {
		reason := ReasonExists
		if r.Code == refusal.UnlearningActive {
			reason = ReasonUnlearning
		}
		return s.giveUp(ctx, t, k, reason, r)
	}
	var f *fault
	if !errors.As(err, &f) {
		s.letGo(ctx, t)
		return unknown(err)
	}
	r := s.failed(f.step, f.err)
	if f.step == roundTrip {
		r.Code = refusal.RoundTripFailed
	}
	if f.clean {
		return s.giveUp(ctx, t, k, ReasonFault, r)
	}
	s.letGo(ctx, t)
	return unknown(r.Err)
}

// giveUp ends the work and the generation.
func (s *Service) giveUp(ctx context.Context, t journal.Ticket, k key, reason journal.Reason, r *refusal.Refusal) error {
	err := s.journal.Update(ctx, func(tx *journal.Tx) error {
		if err := closeRow(tx.SQL(), k, t.Event.MessageID, failed, r.Code, nil); err != nil {
			return err
		}
		return tx.Fail(t, reason, journal.Outcome{Detail: r.Err.Message})
	})
	if err != nil {
		return unknown(err)
	}
	return r
}

// later is the pause before unfinished work is tried again.
const later = 2 * time.Second

// letGo puts the work back, so that it need not wait for the lease to end. If
// even that cannot be written, the lease does it.
func (s *Service) letGo(ctx context.Context, t journal.Ticket) {
	if err := s.journal.Retry(ctx, t, ReasonFault, "not finished", later); err != nil {
		s.log.Warn("unfinished persist keeps its lease", "message_id", string(t.Event.MessageID), "error", err)
	}
}

// refusalOf gives the refusal of a recorded code.
func refusalOf(code refusal.Code) error {
	switch code {
	case refusal.CompetenceExists:
		return errTaken
	case refusal.UnlearningActive:
		return errUnlearning
	}
	return refusal.New(code, errkind.NotNow, "the competence could not be kept; nothing was kept of it")
}
