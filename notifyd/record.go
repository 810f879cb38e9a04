package notifyd

import (
	"encoding/json"

	"arkamsg/journal"
)

// Shown is an event as every door shows it; its JSON is part of the contract
// (`show --json`, GET /notify/{id}).
type Shown struct {
	MessageID  journal.MessageID `json:"message_id"`
	EventID    journal.EventID   `json:"event_id"`
	Kind       journal.Kind      `json:"kind"`
	State      journal.State     `json:"state"`
	Reason     journal.Reason    `json:"reason"`
	Target     string            `json:"target"`
	Attempts   int               `json:"attempts"`
	CreatedAt  Stamp             `json:"created_at"`
	FinishedAt Stamp             `json:"finished_at"`
	Test       bool              `json:"test,omitempty"`
	Body       json.RawMessage   `json:"body,omitempty"`
	History    []ShownStep       `json:"history,omitzero"` // nil: not asked for
}

// ShownStep is one step of its history.
type ShownStep struct {
	At       Stamp          `json:"at"`
	State    journal.State  `json:"state"`
	Attempt  int            `json:"attempt"`
	Reason   journal.Reason `json:"reason"`
	Detail   string         `json:"detail"`
	Evidence string         `json:"evidence,omitempty"`
}

// ShowRecord renders a record; body and history only when the whole is wanted.
func ShowRecord(r journal.Record, whole bool) Shown {
	v := Shown{
		MessageID: r.MessageID, EventID: r.ID, Kind: r.Kind, State: r.State, Reason: r.Reason,
		Target: Target(r.Lane), Attempts: r.Attempts, Test: r.Test,
		CreatedAt: Stamp(r.CreatedAt), FinishedAt: Stamp(r.FinishedAt),
	}
	if !whole {
		return v
	}
	if json.Valid(r.Body) {
		v.Body = r.Body
	}
	v.History = make([]ShownStep, 0, len(r.History))
	for _, h := range r.History {
		v.History = append(v.History, ShownStep{
			At: Stamp(h.At), State: h.State, Attempt: h.Attempt, Reason: h.Reason, Detail: h.Detail, Evidence: h.Evidence,
		})
	}
	return v
}
