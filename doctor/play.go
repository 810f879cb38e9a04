package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"arkamsg/internal/standin"
	"arkamsg/journal"
	"arkamsg/messaging"
	"arkamsg/notifyd"
	"arkamsg/sessions"
)

const (
	codePushCodex   Code = "lab_push_codex"
	codePushGeneric Code = "lab_push_generic"
	codeBlock       Code = "lab_block"
	codeReturn      Code = "lab_return"
	codeEscalation  Code = "lab_escalation"
	codePull        Code = "lab_pull"
	codeRepeat      Code = "lab_repeat"
	codeStatus      Code = "lab_status"
)

// playChecks send real messages, each by a process of its own. Only a lab may
// be asked: in a home somebody would have to read them.
var playChecks = []Check{
	{Code: codePushCodex, Title: "push: a message arrives at a codex agent", After: []Code{codeTests}, Limit: 30 * time.Second, Run: playPushCodex},
	{Code: codePushGeneric, Title: "push: a message arrives at another agent", After: []Code{codeTests}, Limit: 30 * time.Second, Run: playPushGeneric},
	{Code: codeRepeat, Title: "push: a repeat types nothing", After: []Code{codePushCodex}, Run: playRepeat},
	{Code: codePull, Title: "pull: the reader gets the message, once unread", After: []Code{codePushCodex}, Run: playPull},
	{Code: codeBlock, Title: "a session that went away: blocked, and not created again", After: []Code{codeRepeat, codePushGeneric}, Limit: 40 * time.Second, Run: playBlock},
	{Code: codeReturn, Title: "the sender's pane shows the return", After: []Code{codeBlock}, Run: playReturn},
	{Code: codeEscalation, Title: "PMO's pane shows one escalation", After: []Code{codeBlock}, Run: playEscalation},
	{Code: codeStatus, Title: "status: nothing waits", After: []Code{codePull, codeReturn, codeEscalation}, Run: playStatus},
	{Code: "lab_verify", Title: "journal verify: all of this stands in it", After: []Code{codeStatus}, Run: playVerify},
}

// play is what the lab's checks tell one another.
type play struct {
	codex         journal.MessageID // from LD to PMO
	blocked       journal.MessageID // from LD to Absent
	returned, esc sight
}

// receipt is the part of push --json that is looked at.
type receipt struct {
	MessageID journal.MessageID `json:"message_id"`
	State     journal.State     `json:"state"`
	Created   bool              `json:"created"`
	Reason    journal.Reason    `json:"reason"`
}

const (
	subject = "is everything in its place"
	body    = "A message of the doctor, in a lab."
)

// push runs the verb as a process and reads its receipt.
func (s *stage) push(ctx context.Context, id journal.MessageID, to sessions.Role) (r receipt, code int, err error) {
	out, code, err := s.arkamsg(ctx, "push", "--from", "LD", "--to", string(to), "--subject", subject,
		"--message", body, "--id", string(id), "--wait", "20s", "--json")
	if err != nil {
		return r, code, err
	}
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&r); err != nil {
		return r, code, fmt.Errorf("push printed no receipt (exit %d): %s", code, out)
	}
	return r, code, nil
}

func newID() journal.MessageID { return journal.MessageID("lab-" + string(messaging.NewID())) }

// bug is what to do about a lab in which the program itself does wrong.
const bug = "report this to the authors of arkamsg, with: arkamsg doctor --lab --json"

func playPushCodex(ctx context.Context, p *patient) Finding {
	p.stage.play.codex = newID()
	return p.playPush(ctx, p.stage.play.codex, "PMO")
}

func playPushGeneric(ctx context.Context, p *patient) Finding {
	return p.playPush(ctx, newID(), "Owner")
}

// playPush sends and demands that the pane was seen to show it, and that the
// agent was given it once.
func (p *patient) playPush(ctx context.Context, id journal.MessageID, to sessions.Role) Finding {
	w, f := p.witness(p.viewOf(to), string(id))
	if f.State == Fail {
		return f
	}
	seen := w.watch(ctx)
	r, code, err := p.stage.push(ctx, id, to)
	if err != nil || code != 0 || r.State != journal.Delivered {
		seen(0)
		return fail(bug, "push ended with exit %d, %s %s %v", code, r.State, r.Reason, err)
	}
	if s := seen(2 * time.Second); !s.whole(w.profile) {
		return unseen(s, w.target.Name, w.profile)
	}
	if n := p.submitted(to, string(id)); n != 1 {
		return fail(bug, "the agent was given the message %d times", n)
	}
	return ok("%s on %s", arrived(w.profile), w.target.Name)
}

func (p *patient) viewOf(role sessions.Role) notifyd.SessionView {
	i := slices.IndexFunc(p.view, func(v notifyd.SessionView) bool { return v.Role == role })
	if i < 0 {
		return notifyd.SessionView{}
	}
	return p.view[i]
}

// submitted counts what the stand-in's own record holds with all of the words.
func (p *patient) submitted(role sessions.Role, words ...string) int {
	entries, err := standin.ReadLog(p.stage.record(role))
	if err != nil {
		return 0
	}
	n := 0
	for _, text := range standin.Submitted(entries) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			n++
		}
	}
	return n
}

func playRepeat(ctx context.Context, p *patient) Finding {
	id := p.stage.play.codex
	r, code, err := p.stage.push(ctx, id, "PMO")
	if err != nil || code != 0 || r.Created || r.State != journal.Delivered {
		return fail(bug, "the repeat ended with exit %d, created %t, %s %v", code, r.Created, r.State, err)
	}
	if n := p.submitted("PMO", string(id)); n != 1 {
		return fail(bug, "the agent was given the message %d times", n)
	}
	return ok("the first receipt, and nothing typed")
}

func playPull(ctx context.Context, p *patient) Finding {
	out, code, err := p.stage.arkamsg(ctx, "pull", "ptr:msg:"+string(p.stage.play.codex))
	if err != nil || code != 0 || !strings.Contains(out, body) {
		return fail(bug, "pull ended with exit %d: %s %v", code, out, err)
	}
	out, code, err = p.stage.arkamsg(ctx, "pull", "--for", "PMO", "--json")
	if err != nil || code != 0 || strings.Contains(out, string(p.stage.play.codex)) {
		return fail(bug, "after it was read the inbox says: exit %d: %s %v", code, out, err)
	}
	return ok("read, and no longer unread")
}

// playBlock lets Absent leave, sends to it, and waits for what must follow. The
// panes are watched meanwhile for the two checks that come after.
func playBlock(ctx context.Context, p *patient) Finding {
	s := p.stage
	if _, err := s.lab.Tmux("kill-session", "-t", "="+string(p.viewOf("Absent").Session)); err != nil {
		return failure(err, bug)
	}
	before, err := p.tmux.Sessions(ctx)
	if err != nil {
		return failure(err, bug)
	}
	s.play.blocked = newID()
	sender, f := p.witness(p.viewOf("LD"), string(s.play.blocked))
	if f.State == Fail {
		return f
	}
	told, f := p.witness(p.viewOf("PMO"), string(s.play.blocked))
	if f.State == Fail {
		return f
	}
	returned, escalated := sender.watch(ctx), told.watch(ctx)
	defer func() { s.play.returned, s.play.esc = returned(0), escalated(0) }()
	r, code, err := s.push(ctx, s.play.blocked, "Absent")
	const refused = 5 // CONTRACT "Exit codes"
	if err != nil || code != refused || r.State != journal.Failed || r.Reason != journal.ReasonMissingSession {
		return fail(bug, "push ended with exit %d, %s %s %v", code, r.State, r.Reason, err)
	}
	if f := p.consequencesTyped(ctx); f.State == Fail {
		return f
	}
	after, err := p.tmux.Sessions(ctx)
	if err != nil || !slices.Equal(idsOf(before), idsOf(after)) {
		return fail(bug, "sessions before: %v, after: %v %v", idsOf(before), idsOf(after), err)
	}
	return ok("missing_session, exit 5, the same %d sessions as before", len(after))
}

func (p *patient) consequencesTyped(ctx context.Context) Finding {
	for _, prefix := range []journal.MessageID{"return:", "escalation:"} {
		rec, err := p.door.Await(ctx, prefix+p.stage.play.blocked)
		if err != nil || rec.State != journal.Delivered {
			return fail(bug, "%s%s is %s (%s) %v", prefix, p.stage.play.blocked, rec.State, rec.Reason, err)
		}
	}
	return Finding{State: OK}
}

func idsOf(list []sessions.Session) []string {
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

// playReturn looks for the very sentence of ARKA §11.
func playReturn(_ context.Context, p *patient) Finding {
	const sentence = "session Absent non active — message non livré. Escalade : PMO."
	if n := p.submitted("LD", "NOTIFICATION:", sentence); n != 1 {
		return fail(bug, "LD was told %d times instead of once: %s", n, sentence)
	}
	if !p.stage.play.returned.line || !p.stage.play.returned.trailer {
		return fail(bug, "the return was given to LD, but its pane was never seen to show it: %+v", p.stage.play.returned)
	}
	return ok("%s", sentence)
}

func playEscalation(_ context.Context, p *patient) Finding {
	if n := p.submitted("PMO", "[Escalade]", string(p.stage.play.blocked)); n != 1 {
		return fail(bug, "PMO was told %d times instead of once", n)
	}
	if !p.stage.play.esc.line || !p.stage.play.esc.trailer {
		return fail(bug, "the escalation was given to PMO, but its pane was never seen to show it: %+v", p.stage.play.esc)
	}
	if n := p.submitted("Owner", "[Escalade]"); n != 0 {
		return fail(bug, "Owner was told as well")
	}
	return ok("once")
}

func playStatus(ctx context.Context, p *patient) Finding {
	out, code, err := p.stage.arkamsg(ctx, "status", "--json")
	if err != nil || code != 0 {
		return fail(bug, "status ended with exit %d: %s %v", code, out, err)
	}
	var s struct {
		Daemon struct{ Running bool }
		Lag    notifyd.LagStatus
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return fail(bug, "status --json: %v", err)
	}
	if !s.Daemon.Running || s.Lag.Queued+s.Lag.Dispatched > 0 {
		return fail(bug, "status says: %s", out)
	}
	return ok("daemon running, lag 0")
}

func playVerify(ctx context.Context, p *patient) Finding {
	out, code, err := p.stage.arkamsg(ctx, "journal", "verify")
	if err != nil || code != 0 {
		return fail(bug, "journal verify ended with exit %d: %s %v", code, out, err)
	}
	return ok("%s", strings.TrimSpace(out))
}
