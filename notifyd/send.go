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
)

// Send publishes the message file and appends the notification, in that order.
// When it returns without error both are durable. With an id that was used
// before, the same content returns the first receipt and another content is a
// Conflict. Killed between the two steps, the next push of that id or the next
// daemon finishes them: the intent lies in the outbox until the event is
// appended.
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
	if err != nil && (errkind.Of(err) == errkind.NotNow || errkind.IsUnknown(err)) {
		intention.Release() // it may be finished later, by whoever finds it
		return Receipt{}, err
	}
	return r, errors.Join(err, intention.Done())
}

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
		Session: string(addr.Session), Project: orElse(d.Project, m.Config.Project), ToAgent: string(msg.To),
		Provider: orElse(addr.Provider, m.Config.Provider), SessionPrefix: orElse(d.Prefix, m.Config.SessionPrefix),
		Resource: messaging.Resource{Pointer: messaging.Pointer{ID: msg.MessageID}.String()},
		Sender:   string(msg.From),
	}
	note(&e, metaDigest, said)
	return e, nil
}

// address resolves a request. A session outside the allow-list is not refused
// here: the message is accepted and the daemon blocks it, so that the sender is
// told and somebody learns of it (ARKA §11).
func (m *Mailroom) address(r sessions.Request) (sessions.Address, error) {
	addr, err := directory(m.Config).Address(r)
	if errors.Is(err, sessions.ErrNotAllowed) {
		err = nil
	}
	return addr, err
}

// finish does what the intent says, as often as it is asked to: a message that
// is there already is recognised by its id.
func (m *Mailroom) finish(ctx context.Context, env messaging.Envelope, d Draft) (Receipt, error) {
	if first, known, err := m.repeat(ctx, env, d.NoNotify); err != nil || known {
		return first, err
	}
	ref, err := m.Tree.Publish(ctx, d.Draft)
	if err != nil {
		return Receipt{}, err
	}
	crash.At("notifyd:after-publish")
	note(&env, metaPath, ref.Path)
	event, err := newEvent(env, d.NoNotify, d.Test)
	if err != nil {
		return Receipt{}, err
	}
	got, err := m.Journal.Append(ctx, event)
	if err != nil {
		return Receipt{}, err
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

// repeat returns the first receipt when the message was appended before, and a
// Conflict when the id stands for something else.
func (m *Mailroom) repeat(ctx context.Context, env messaging.Envelope, fact bool) (Receipt, bool, error) {
	id := eventID(env.MessageID, fact)
	rec, err := m.Journal.Get(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		return Receipt{}, false, nil
	}
	if err != nil {
		return Receipt{}, false, err
	}
	first, err := messaging.ParseEnvelope(rec.Body)
	if err != nil || noted(first, metaDigest) != noted(env, metaDigest) {
		return Receipt{}, false, errkind.New(errkind.Conflict, "message_id %s is already used for another message", id).
			WithHint("arkamsg show %s", id)
	}
	// The stored event itself, so that the journal counts the repeat.
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

// ChatEnvelope is the envelope that a chat line stands for in this home.
func (m *Mailroom) ChatEnvelope(c messaging.Chat, at time.Time) messaging.Envelope {
	return c.Envelope(messaging.Envelope{
		TS: at, Project: m.Config.Project, Provider: m.Config.Provider, SessionPrefix: m.Config.SessionPrefix,
	})
}

// EnvelopeResult is the outcome for one envelope of a batch.
type EnvelopeResult struct {
	Receipt Receipt
	Err     error
}

func receipt(r journal.Receipt, env messaging.Envelope) Receipt {
	return Receipt{
		MessageID: r.MessageID, EventID: r.EventID, State: r.State, Created: r.Created, Reason: r.Reason,
		Path: noted(env, metaPath),
	}
}

// digest covers what the sender said and chose, and nothing that the clock, the
// file system or a random number added.
func digest(d Draft) string {
	d.At, d.Message.MessageID = time.Time{}, ""
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
