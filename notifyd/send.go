package notifyd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/sessions"
)

// A Draft is what a sender wants to say, and how to reach the reader where the
// configuration's answer is not wanted.
type Draft struct {
	messaging.Draft
	Project, Provider, Prefix string
	Session                   string
	NoNotify                  bool // publish the file, type nothing
	Test                      bool // kept out of inboxes and counters
}

// A Receipt says what became of a message. Created is false for a repeat.
type Receipt struct {
	MessageID journal.MessageID `json:"message_id"`
	EventID   journal.EventID   `json:"event_id"`
	State     journal.State     `json:"state"`
	Created   bool              `json:"created"`
	Path      string            `json:"path,omitempty"`
	Reason    journal.Reason    `json:"reason,omitempty"`
}

// Keys of the envelope's metadata that are ours.
const (
	metaPath   = "path"   // of the message file, relative to the backlog's root
	metaDigest = "digest" // of what the sender said, to tell a repeat from a conflict
	metaTest   = "test"   // set for a test
)

// Send publishes the message file and appends the notification, in that order.
// When it returns without error both are durable. With an id that was used
// before, the same content returns the first receipt and another content is a
// Conflict. Killed or failed between the two steps, the next push of that id or
// the next daemon finishes them: the intent lies in the outbox until the event
// is appended.
func (m *Mailroom) Send(ctx context.Context, d Draft) (Receipt, error) {
	d.Message = d.Message.Normalize()
	said := digest(d)
	if err := m.Tree.Complete(ctx, &d.Draft); err != nil {
		return Receipt{}, err
	}
	env, err := m.envelope(d, said)
	if err != nil {
		return Receipt{}, err
	}
	intention, err := m.intend(ctx, env, d)
	if err != nil {
		return Receipt{}, err
	}
	r, err := m.finish(ctx, env, d)
	return r, errors.Join(err, conclude(intention, err))
}

// conclude ends an intention that was carried out or refused for good. Anything
// else leaves it to be finished later, by whoever finds it.
func conclude(in *messaging.Intention, err error) error {
	if err == nil || refused(err) {
		return in.Done()
	}
	in.Release()
	return nil
}

// refused reports whether the push was turned down before anything was
// published, and would be again.
func refused(err error) bool {
	switch errkind.Of(err) {
	case errkind.Invalid, errkind.NotFound, errkind.Conflict, errkind.Refused:
		var left unfinished
		return !errkind.IsUnknown(err) && !errors.As(err, &left)
	}
	return false
}

// unfinished is an error that struck after the file was published: the event
// has to follow, however long it takes.
type unfinished struct{ error }

func (u unfinished) Unwrap() error { return u.error }

// intend records what is about to happen. What an earlier push of the same id
// left undone is finished first; ours is then a repeat or a conflict.
func (m *Mailroom) intend(ctx context.Context, env messaging.Envelope, d Draft) (*messaging.Intention, error) {
	body, err := env.JSON()
	if err != nil {
		return nil, err
	}
	for {
		intention, err := m.Tree.Intend(ctx, messaging.Intent{Envelope: body, Draft: d.Draft, Notify: !d.NoNotify})
		if err != nil || !intention.Adopted {
			return intention, err
		}
		if err := m.complete(ctx, intention); err != nil {
			return nil, err
		}
	}
}

// envelope addresses a completed draft.
func (m *Mailroom) envelope(d Draft, said string) (messaging.Envelope, error) {
	msg := d.Message
	addr, err := m.address(sessions.Request{
		ToAgent: string(msg.To), Session: d.Session, Project: d.Project, Provider: d.Provider, Prefix: d.Prefix,
	})
	if err != nil {
		return messaging.Envelope{}, err
	}
	e := messaging.Envelope{
		Type: "notify", V: 1, MessageID: msg.MessageID, TS: d.At,
		Session: string(addr.Session), Project: orElse(d.Project, m.inForce.Load().Project), ToAgent: string(msg.To),
		Provider: orElse(addr.Provider, m.inForce.Load().Provider), SessionPrefix: orElse(d.Prefix, m.inForce.Load().SessionPrefix),
		Resource: messaging.Resource{Pointer: messaging.Pointer{ID: msg.MessageID}.String()},
		Sender:   string(msg.From),
	}
	note(&e, metaDigest, said)
	if d.Test {
		note(&e, metaTest, "yes") // a killed test is finished as one
	}
	return e, nil
}

// address resolves a request. A session outside the allow-list is not refused
// here: the message is accepted and the daemon blocks it, so that the sender is
// told and somebody learns of it (ARKA §11).
func (m *Mailroom) address(r sessions.Request) (sessions.Address, error) {
	addr, err := directory(m.inForce.Load()).Address(r)
	if errors.Is(err, sessions.ErrNotAllowed) {
		err = nil
	}
	return addr, err
}

// finish does what the intent says, as often as it is asked to: a message that
// is there already is recognised by its id.
func (m *Mailroom) finish(ctx context.Context, env messaging.Envelope, d Draft) (Receipt, error) {
	first, known, err := m.repeat(ctx, env, d.NoNotify)
	if err != nil || known {
		return first, err
	}
	path := first.Path
	if path == "" {
		ref, err := m.Tree.Publish(ctx, d.Draft)
		if err != nil {
			return Receipt{}, err
		}
		crash.At("notifyd:after-publish")
		path = ref.Path
	}
	note(&env, metaPath, path)
	event, err := newEvent(env, d.NoNotify, d.Test)
	if err != nil {
		return Receipt{}, err
	}
	got, err := m.Journal.Append(ctx, event)
	if err != nil {
		return Receipt{}, unfinished{err}
	}
	crash.At("notifyd:after-append")
	return receipt(got, env), nil
}

// newEvent makes the event of an envelope: work, or a mere fact.
func newEvent(env messaging.Envelope, fact, test bool) (journal.NewEvent, error) {
	body, err := env.JSON()
	e := journal.NewEvent{
		MessageID: eventID(env.MessageID, fact), Kind: journal.KindNotify,
		Lane: lane(sessions.Name(env.Session)), Body: body, Test: test,
	}
	if fact {
		e.Kind, e.Fact = journal.KindMessage, true
	}
	return e, err
}

// eventID is the message's own id. The fact that a file was published without a
// notification has another one, so that the message can be notified later.
func eventID(id messaging.ID, fact bool) journal.MessageID {
	if fact {
		return journal.MessageID("file:" + string(id))
	}
	return journal.MessageID(id)
}

// repeat returns the first receipt when the message was sent before, and a
// Conflict when the id stands for something else. A message that was published
// without a notification and is notified now is no repeat: only the path of its
// file is known.
func (m *Mailroom) repeat(ctx context.Context, env messaging.Envelope, fact bool) (Receipt, bool, error) {
	var published string
	for _, asFact := range []bool{false, true} {
		rec, err := m.Journal.Get(ctx, eventID(env.MessageID, asFact))
		if errors.Is(err, journal.ErrNotFound) {
			continue
		}
		if err != nil {
			return Receipt{}, false, err
		}
		first, err := messaging.ParseEnvelope(rec.Body)
		if err != nil || noted(first, metaDigest) != noted(env, metaDigest) {
			return Receipt{}, false, errkind.New(errkind.Conflict, "message_id %s is already used for another message", env.MessageID).
				WithHint("arkamsg show %s", env.MessageID)
		}
		if !asFact || fact {
			return m.again(ctx, rec, first)
		}
		published = noted(first, metaPath)
	}
	return Receipt{Path: published}, false, nil
}

// again appends the stored event itself, so that the journal counts the repeat.
func (m *Mailroom) again(ctx context.Context, rec journal.Record, first messaging.Envelope) (Receipt, bool, error) {
	got, err := m.Journal.Append(ctx, journal.NewEvent{
		MessageID: rec.MessageID, Kind: rec.Kind, Lane: rec.Lane, Body: rec.Body,
		Counter: rec.Counter, Test: rec.Test, Fact: rec.Fact,
	})
	return receipt(got, first), true, err
}

// SendEnvelopes appends notify v1 envelopes in order, in one transaction. Each
// has its own result; one conflict does not stop the others.
func (m *Mailroom) SendEnvelopes(ctx context.Context, envs []messaging.Envelope, test bool) ([]EnvelopeResult, error) {
	results := make([]EnvelopeResult, len(envs))
	var events []journal.NewEvent
	var owner []int
	for i, e := range envs {
		ev, err := m.addressed(e, test)
		if err != nil {
			results[i].Err = err
			continue
		}
		events, owner = append(events, ev), append(owner, i)
	}
	got, err := m.Journal.AppendAll(ctx, events)
	if err != nil {
		return nil, err
	}
	for n, r := range got {
		results[owner[n]] = EnvelopeResult{Receipt: receipt(r.Receipt, envs[owner[n]]), Err: r.Err}
	}
	return results, nil
}

// addressed is the event of an envelope in the lane of its session.
func (m *Mailroom) addressed(e messaging.Envelope, test bool) (journal.NewEvent, error) {
	addr, err := m.address(sessions.Request{
		ToAgent: e.ToAgent, Session: e.Session, Project: e.Project, Provider: e.Provider, Prefix: e.SessionPrefix,
	})
	if err != nil {
		return journal.NewEvent{}, err
	}
	ev, err := newEvent(e, false, test)
	ev.Lane = lane(addr.Session)
	return ev, err
}

// ChatEnvelope is the envelope that a chat line stands for in this home. A line
// that was sent before keeps its time, so that its repeat is a repeat.
func (m *Mailroom) ChatEnvelope(ctx context.Context, c messaging.Chat, at time.Time) (messaging.Envelope, error) {
	file := m.inForce.Load()
	e := c.Envelope(messaging.Envelope{
		TS: at, Project: file.Project, Provider: file.Provider, SessionPrefix: file.SessionPrefix,
	})
	addr, err := m.address(sessions.Request{ToAgent: e.ToAgent})
	if err != nil {
		return e, err
	}
	e.Session, e.Provider = string(addr.Session), orElse(addr.Provider, e.Provider)
	rec, err := m.Journal.Get(ctx, journal.MessageID(e.MessageID))
	if errors.Is(err, journal.ErrNotFound) {
		return e, nil
	}
	if first, parseErr := messaging.ParseEnvelope(rec.Body); err == nil && parseErr == nil {
		e.TS = first.TS
	}
	return e, err
}

// EnvelopeResult is the outcome for one envelope of a batch.
type EnvelopeResult struct {
	Receipt Receipt
	Err     error
}

func receipt(r journal.Receipt, env messaging.Envelope) Receipt {
	return Receipt{
		MessageID: journal.MessageID(env.MessageID), EventID: r.EventID, State: r.State, Created: r.Created, Reason: r.Reason,
		Path: noted(env, metaPath),
	}
}

// digest covers what the sender said and chose, and nothing that the clock, the
// file system or a random number added. Whether to notify is no part of it: a
// message may be published first and notified later.
func digest(d Draft) string {
	d.At, d.Message.MessageID, d.NoNotify = time.Time{}, "", false
	b, err := json.Marshal(d)
	if err != nil {
		return "" // plain strings and slices: cannot happen, and would only refuse repeats
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// note keeps a string of ours in the envelope's metadata; noted reads it.
func note(e *messaging.Envelope, key, value string) {
	meta := maps.Clone(e.Metadata)
	if meta == nil {
		meta = make(map[string]json.RawMessage)
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return // a Go string is always JSON
	}
	meta[key] = quoted
	e.Metadata = meta
}

func noted(e messaging.Envelope, key string) (value string) {
	if json.Unmarshal(e.Metadata[key], &value) != nil {
		return "" // absent, or somebody else's under the same name
	}
	return value
}

func orElse(v, fallback string) string {
	if v != "" {
		return v
	}
	return fallback
}
