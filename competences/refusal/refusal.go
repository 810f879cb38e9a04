package refusal

import (
	"errors"
	"time"

	"arkamsg/competences/pii"
	"arkamsg/internal/errkind"
)

// Code names a reason, stable for clients.
type Code string

// The codes, in the order in which a persist is checked (issue: the order of
// checks is fixed).
const (
	Unauthenticated     Code = "UNAUTHENTICATED"
	UnsupportedMedia    Code = "UNSUPPORTED_MEDIA_TYPE"
	TooLarge            Code = "PAYLOAD_TOO_LARGE"
	InvalidJSON         Code = "INVALID_JSON"
	MachineIDMissing    Code = "MACHINE_ID_MISSING"
	MachineMismatch     Code = "MACHINE_MISMATCH"
	IdempotencyMismatch Code = "IDEMPOTENCY_MISMATCH"
	RateLimited         Code = "RATE_LIMITED"
	SchemaInvalid       Code = "SCHEMA_INVALID"
	NameInvalid         Code = "NAME_INVALID"
	AgentUnknown        Code = "AGENT_UNKNOWN"
	StepsEmpty          Code = "STEPS_EMPTY"
	PrimitiveUnknown    Code = "PRIMITIVE_UNKNOWN"
	ParamsInvalid       Code = "PARAMS_INVALID"
	DropoutMissing      Code = "DROPOUT_REASON_REQUIRED"
	PIIDetected         Code = "PII_DETECTED"
	UnlearningActive    Code = "UNLEARNING_ACTIVE"
	CompetenceExists    Code = "COMPETENCE_EXISTS"
	PersistFailed       Code = "PERSIST_FAILED"
	RoundTripFailed     Code = "ROUNDTRIP_FAILED"
	OutcomeUnknown      Code = "OUTCOME_UNKNOWN"

	NotFound        Code = "NOT_FOUND"
	SessionOpen     Code = "SESSION_ALREADY_OPEN"
	SessionClosed   Code = "SESSION_STOPPED"
	SessionNotEnded Code = "SESSION_STILL_OPEN"
	WrongSequence   Code = "WRONG_SEQUENCE"
	StaleRevision   Code = "STALE_REVISION"
	SessionFull     Code = "SESSION_FULL"
)

// Codes lists every code, so that a door's table can be tested for
// completeness.
var Codes = []Code{
	Unauthenticated, UnsupportedMedia, TooLarge, InvalidJSON, MachineIDMissing, MachineMismatch,
	IdempotencyMismatch, RateLimited, SchemaInvalid, NameInvalid, AgentUnknown, StepsEmpty, PrimitiveUnknown,
	ParamsInvalid, DropoutMissing, PIIDetected, UnlearningActive, CompetenceExists, PersistFailed,
	RoundTripFailed, OutcomeUnknown, NotFound, SessionOpen, SessionClosed, SessionNotEnded, WrongSequence,
	StaleRevision, SessionFull,
}

// Refusal is an error with a code.
type Refusal struct {
	Code       Code
	Err        *errkind.Error
	Findings   []pii.Finding // PII_DETECTED
	Valid      []string      // AGENT_UNKNOWN, PRIMITIVE_UNKNOWN: what would be accepted
	RetryAfter time.Duration // RATE_LIMITED
	Expected   int64         // WRONG_SEQUENCE, STALE_REVISION: what would be accepted
}

// New returns a refusal with a formatted message.
func New(code Code, kind errkind.Kind, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Err: errkind.New(kind, format, args...)}
}

// With adds problems of the request.
func (r *Refusal) With(p ...errkind.Problem) *Refusal {
	r.Err.WithProblems(p...)
	return r
}

// Because keeps the cause for the log; it is not shown to clients.
func (r *Refusal) Because(err error) *Refusal {
	r.Err.Wrap(err)
	return r
}

// Error is the message of the errkind error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap gives the errkind error, so that errkind.Of works.
func (r *Refusal) Unwrap() error { return r.Err }

// Of returns the refusal in err's tree, or nil.
func Of(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// PII is the refusal of personal data; it holds types and pointers only.
func PII(found []pii.Finding) *Refusal {
	r := New(PIIDetected, errkind.Refused, "the request holds personal data; nothing was kept")
	r.Findings = found
	for _, f := range found {
		r.With(errkind.Problem{Field: f.Pointer, Message: "looks like " + f.Type})
	}
	return r
}
