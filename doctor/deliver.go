package doctor

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

// checkDelivery sends a test message by the way of every envelope and does not
// believe the journal alone: the pane has to show it.
func checkDelivery(ctx context.Context, p *patient) Finding {
	view, f := p.receiver()
	if f.State == Fail {
		return f
	}
	env := p.envelope("test", string(view.Session), string(view.Role))
	env.Provider = view.Provider
	w, f := p.witness(view, string(env.MessageID))
	if f.State == Fail {
		return f
	}
	seen := w.watch(ctx)
	rec, f := p.send(ctx, env)
	if f.State == Fail {
		seen(0)
		return f
	}
	p.sent.delivered, p.sent.role = rec.MessageID, messaging.Role(view.Role)
	if rec.State != journal.Delivered {
		seen(0)
		return undelivered(rec)
	}
	s := seen(2 * time.Second)
	if !s.whole(w.profile) {
		return unseen(s, view.Session, w.profile)
	}
	return ok("%s on %s, %v after it was sent", arrived(w.profile), view.Session, rec.FinishedAt.Sub(rec.CreatedAt).Round(time.Millisecond))
}

// receiver is the session that was asked for, or the first that can be typed to
// now.
func (p *patient) receiver() (notifyd.SessionView, Finding) {
	none := notifyd.SessionView{}
	if p.Session == "" {
		i := slices.IndexFunc(p.view, func(v notifyd.SessionView) bool { return v.Deliverable })
		if i < 0 {
			return none, fail("wait until an agent is at its prompt, or name a session that may be waited for: arkamsg doctor --session NAME",
				"no session takes a message at this moment; why: arkamsg sessions")
		}
		return p.view[i], Finding{}
	}
	i := slices.IndexFunc(p.view, func(v notifyd.SessionView) bool { return v.Session == p.Session })
	if i < 0 {
		return none, fail("add it under allow in arka.yaml, or choose one of: arkamsg sessions", "%s is not on the allow-list", p.Session)
	}
	if unreachable(p.view[i]) {
		return none, fail(remedy(p.view[i].Reason), "%s cannot be reached: %s", p.Session, p.view[i].Reason)
	}
	return p.view[i], Finding{}
}

func (p *patient) witness(v notifyd.SessionView, id string) (witness, Finding) {
	target, err := sessions.ParseTarget(v.Target)
	if err != nil {
		return witness{}, failure(err, "arkamsg sessions")
	}
	profiles, err := sessions.Profiles(p.file.Providers)
	if err != nil {
		return witness{}, failure(err, "correct providers in arka.yaml")
	}
	profile, known := profiles[v.Provider]
	if !known {
		profile = profiles["generic"]
	}
	return witness{p.tmux, target, profile, id}, Finding{}
}

// send puts a test envelope through the public door and waits for its end. What
// has none in time is withdrawn.
func (p *patient) send(ctx context.Context, env messaging.Envelope) (journal.Record, Finding) {
	results, err := p.door.SendEnvelopes(ctx, []messaging.Envelope{env}, true)
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return journal.Record{}, failure(err, "arkamsg status")
	}
	id := results[0].Receipt.MessageID
	rec, err := p.door.Await(ctx, id)
	if err != nil {
		return journal.Record{}, failure(err, "arkamsg journal verify")
	}
	if rec.State != journal.Delivered && rec.State != journal.Failed {
		withdraw(p.door, id)
	}
	return rec, Finding{}
}

// withdraw ends a test message that waits at a closed gate in the way in which a
// reader ends one, by reading it: the daemon looks for that before it types. A
// line that is in the composer already is still submitted.
func withdraw(door *notifyd.Mailroom, id journal.MessageID) {
	ctx, cancel := context.WithTimeout(context.Background(), grace-time.Second)
	defer cancel()
	_, err := door.Journal.Append(ctx, journal.NewEvent{
		MessageID: "read:" + id, Kind: journal.KindRead, Lane: "inbox", Body: []byte(`{}`), Fact: true, Test: true,
	})
	if err == nil {
		_, _ = door.Await(ctx, id) // the daemon is slow: it will see it later
	}
}

func undelivered(rec journal.Record) Finding {
	what := remedy(rec.Reason)
	if what == "" {
		what = "look at the pane and at the daemon's log, then: arkamsg doctor"
	}
	return fail(what, "%s is %s: %s", rec.MessageID, rec.State, orElse(string(rec.Reason), "no reason was recorded"))
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func unseen(s sight, where sessions.Name, profile sessions.Profile) Finding {
	missing := "the line NOTIFICATION: …"
	if s.line {
		missing = "the isolated line " + profile.Trailer
	}
	return fail("look at the pane; if the agent shows it otherwise, adjust 'providers' in arka.yaml",
		"the journal says delivered, but %s was never seen on %s", missing, where)
}

func arrived(profile sessions.Profile) string {
	if profile.Trailer == "" {
		return "NOTIFICATION: seen"
	}
	return "NOTIFICATION: and the isolated " + profile.Trailer + " seen"
}

// checkMissing is the negative case of ARKA §12: a session that does not exist.
func checkMissing(ctx context.Context, p *patient) Finding {
	before, err := p.tmux.Sessions(ctx)
	if err != nil {
		return failure(err, "tmux list-sessions")
	}
	env := p.envelope("absent", "", "")
	env.Session = string(env.MessageID) // a name that nobody has
	rec, f := p.send(ctx, env)
	if f.State == Fail {
		return f
	}
	p.sent.blocked = rec.MessageID
	if rec.State != journal.Failed || !notifyd.Blocks(rec.Reason) {
		return fail("report this to the authors of arkamsg: arkamsg show "+string(rec.MessageID),
			"a message to an absent session is %s (%s) instead of blocked", rec.State, rec.Reason)
	}
	if err := p.door.Journal.ClearDead(ctx, rec.MessageID, "the doctor's own"); err != nil {
		return failure(err, "arkamsg dead clear "+string(rec.MessageID))
	}
	if f := p.followed(ctx, rec); f.State == Fail {
		return f
	}
	return p.nothingCreated(ctx, before, sessions.Name(env.Session), rec.Reason)
}

// followed demands one return and one escalation, and looks for more. They are
// recorded when their lane comes to them; behind a message that waits for an
// agent that can be long, and they are not left there.
func (p *patient) followed(ctx context.Context, rec journal.Record) Finding {
	bug := "report this to the authors of arkamsg: arkamsg show " + string(rec.MessageID)
	for _, kind := range []journal.Kind{journal.KindReturn, journal.KindEscalation} {
		all, err := p.door.Journal.Events(ctx, journal.Filter{Kinds: []journal.Kind{kind}, AfterID: rec.ID, IncludeTests: true})
		if err != nil {
			return failure(err, "arkamsg journal verify")
		}
		about := slices.DeleteFunc(all, func(r journal.Record) bool { return !bytes.Contains(r.Body, []byte(rec.MessageID)) })
		if len(about) != 1 {
			return fail(bug, "%d events of kind %s instead of 1", len(about), kind)
		}
		if f := p.recorded(ctx, about[0].MessageID, bug); f.State == Fail {
			return f
		}
	}
	return Finding{State: OK}
}

// recordPatience is how long a lane may take to come to a consequence.
const recordPatience = 3 * time.Second

func (p *patient) recorded(ctx context.Context, id journal.MessageID, bug string) Finding {
	ctx, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	end, err := p.door.Await(ctx, id)
	switch {
	case err != nil:
		return failure(err, "arkamsg journal verify")
	case end.State == journal.Queued:
		giveUp(p.door, id)
	case end.State != journal.Delivered:
		return fail(bug, "%s is %s (%s) instead of recorded", id, end.State, end.Reason)
	}
	return Finding{State: OK}
}

// nothingCreated compares the sessions. A session that a person opens meanwhile
// has another name than the one that was asked for.
func (p *patient) nothingCreated(ctx context.Context, before []sessions.Session, asked sessions.Name, reason journal.Reason) Finding {
	after, err := p.tmux.Sessions(ctx)
	if err != nil {
		return failure(err, "tmux list-sessions")
	}
	made := slices.DeleteFunc(after, func(s sessions.Session) bool {
		return slices.ContainsFunc(before, func(b sessions.Session) bool { return b.ID == s.ID })
	})
	if slices.ContainsFunc(made, func(s sessions.Session) bool { return strings.HasPrefix(string(s.Name), string(asked)) }) {
		return fail("report this to the authors of arkamsg", "the session %s was created", asked)
	}
	if len(made) > 0 {
		return warn("run arkamsg doctor again, without opening sessions meanwhile", "session %s appeared meanwhile", made[0].Name)
	}
	return ok("blocked (%s), returned, escalated once, no session created", reason)
}

// checkTestsApart proves that what the doctor sent disturbs no reader and no
// number.
func checkTestsApart(ctx context.Context, p *patient) Finding {
	bug := "report this to the authors of arkamsg: arkamsg events --json"
	for _, id := range []journal.MessageID{p.sent.delivered, p.sent.blocked} {
		rec, err := p.door.Journal.Get(ctx, id)
		if err != nil {
			return failure(err, "arkamsg journal verify")
		}
		if !rec.Test {
			return fail(bug, "%s is not marked as a test", id)
		}
		shown, err := p.door.Journal.Events(ctx, journal.Filter{AfterID: rec.ID - 1, Limit: 1})
		if err != nil {
			return failure(err, "arkamsg journal verify")
		}
		if len(shown) > 0 && shown[0].ID == rec.ID {
			return fail(bug, "%s is listed among the real events", id)
		}
	}
	return p.noTrace(ctx, bug)
}

// noTrace looks into the inbox of the pane's role and, in a lab, where nobody
// else sends, at the numbers.
func (p *patient) noTrace(ctx context.Context, bug string) Finding {
	items, err := p.door.Inbox(ctx, p.sent.role)
	if err != nil {
		return failure(err, "arkamsg pull --for "+string(p.sent.role))
	}
	for _, it := range items {
		if journal.MessageID(it.ID) == p.sent.delivered {
			return fail(bug, "%s stands in the inbox of %s", it.ID, p.sent.role)
		}
	}
	if p.stage == nil {
		return ok("marked as tests, listed nowhere")
	}
	sum, err := p.door.Journal.Summary(ctx)
	if err != nil {
		return failure(err, "arkamsg journal verify")
	}
	counted := sum.Events + sum.Delivered + sum.Failed
	for _, n := range sum.Counters {
		counted += n
	}
	if counted != 0 {
		return fail(bug, "tests were counted: %+v", sum)
	}
	return ok("listed nowhere, and every counter is 0")
}
