package journal

import "fmt"

// Step is the verb of a transition. A step leaves certain states only; together
// they are the whole state machine, used alike by the statements that write, by
// Verify and by Rebuild.
type Step string

const (
	StepClaim   Step = "claim"   // queued, or dispatched with a lease run out → dispatched, next attempt
	StepAdopt   Step = "adopt"   // dispatched under an older term → dispatched, same attempt
	StepRetry   Step = "retry"   // dispatched → queued
	StepDeliver Step = "deliver" // dispatched → delivered
	StepFail    Step = "fail"    // dispatched → failed, and a dead letter
	StepCancel  Step = "cancel"  // queued or dispatched → failed, by a person
	StepRevive  Step = "revive"  // failed → queued, attempts from 0, by a person
	StepClear   Step = "clear"   // failed → failed, no dead letter any more
)

// to is the state that a step leads to.
var to = map[Step]State{
	StepClaim: Dispatched, StepAdopt: Dispatched, StepRetry: Queued, StepDeliver: Delivered,
	StepFail: Failed, StepCancel: Failed, StepRevive: Queued, StepClear: Failed,
}

// from lists the states that a step may leave.
var from = map[Step][]State{
	StepClaim: {Queued, Dispatched}, StepAdopt: {Dispatched}, StepRetry: {Dispatched},
	StepDeliver: {Dispatched}, StepFail: {Dispatched}, StepCancel: {Queued, Dispatched},
	StepRevive: {Failed}, StepClear: {Failed},
}

// progress is one event's history folded up.
type progress struct {
	state   State
	attempt int
	fence   Fence
	n       int64
	dead    int64 // seq of the transition that made it a dead letter, or 0
	reason  Reason
}

func startOf(e Event) progress {
	if e.Fact {
		return progress{state: Delivered}
	}
	return progress{state: Queued}
}

// apply adds one transition; an error means that history is impossible.
func (p *progress) apply(t transition) error {
	if !p.allows(t.step) {
		return fmt.Errorf("%s while %s", t.step, p.state)
	}
	p.advance(t.step)
	if t.n != p.n || t.attempt != p.attempt || t.fence != p.fence {
		return fmt.Errorf("%s is number %d, attempt %d, fence %d; expected %d, %d, %d",
			t.step, t.n, t.attempt, t.fence, p.n, p.attempt, p.fence)
	}
	p.reason = t.reason
	switch t.step {
	case StepFail:
		p.dead = t.seq
	case StepRevive, StepClear:
		p.dead = 0
	}
	return nil
}

func (p *progress) allows(s Step) bool {
	if (s == StepRevive || s == StepClear) && p.dead == 0 {
		return false
	}
	for _, st := range from[s] {
		if st == p.state {
			return true
		}
	}
	return false
}

func (p *progress) advance(s Step) {
	p.n++
	p.state = to[s]
	switch s {
	case StepClaim:
		p.attempt++
		p.fence++
	case StepAdopt:
		p.fence++
	case StepRevive:
		p.attempt = 0
	}
}
