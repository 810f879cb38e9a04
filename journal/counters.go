package journal

// Names of the counters, as in CONTRACT.md. All are derived from history and
// can be rebuilt, except CounterDuplicates: a repeat leaves no event.
//
// The total of events is not counted but told by the last id, less those that
// do not count, so that the commonest append writes one page less.
const (
	counterUncounted = "uncounted" // test events and facts
	counterDelivered = "delivered"
	counterFailed    = "failed"

	CounterBlockedMissing = "blocked_missing_session_total"
	CounterAllowReject    = "allowlist_reject_total"
	CounterEscalatedPMO   = "escalation_to_pmo_total"   // NewEvent.Counter of an escalation
	CounterEscalatedOwner = "escalation_to_owner_total" // NewEvent.Counter of an escalation
	CounterReturned       = "notify_return_to_sender_total"
	CounterRetries        = "retries_total"
	CounterDead           = "dead_letters_total"
	CounterDuplicates     = "duplicates_suppressed_total"
)

// Counters lists the names that status always shows, zero or not.
var Counters = []string{
	CounterBlockedMissing, CounterAllowReject, CounterEscalatedPMO, CounterEscalatedOwner,
	CounterReturned, CounterRetries, CounterDead, CounterDuplicates,
}

// countersOfEvent says what an append counts. Test events count nothing; facts
// have no work and are no part of the totals.
func countersOfEvent(e Event) []string {
	var names []string
	if e.Test || e.Fact {
		names = append(names, counterUncounted)
	}
	if e.Counter != "" && !e.Test {
		names = append(names, e.Counter)
	}
	return names
}

// countersOfStep says what a transition counts.
func countersOfStep(k Kind, test bool, s Step, r Reason) []string {
	if test {
		return nil
	}
	switch s {
	case StepDeliver:
		return []string{counterDelivered}
	case StepRetry:
		return []string{CounterRetries}
	case StepCancel:
		return []string{counterFailed}
	case StepFail:
		return append([]string{counterFailed, CounterDead}, blockCounter(k, r)...)
	}
	return nil
}

func blockCounter(k Kind, r Reason) []string {
	if k != KindNotify {
		return nil
	}
	switch r {
	case ReasonMissingSession:
		return []string{CounterBlockedMissing}
	case ReasonNotAllowed:
		return []string{CounterAllowReject}
	}
	return nil
}
