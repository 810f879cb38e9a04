package wire

import (
	"context"
	"errors"
	"net/http"

	"arkamsg/internal/errkind"
)

// An Error is an answer that the table of kinds cannot give: a status or a code
// of the route's own. It may wrap the cause, which only the log sees.
type Error struct {
	Status    int
	Code      string // stable, for programs
	Detail    string // one sentence, for people
	Hint      string // what to do next; may be empty
	Retryable bool   // the same request may succeed later
	Problems  []errkind.Problem
	Cause     error
}

// NewError returns an error with a status and code of its own.
func NewError(status int, code, detail string) *Error {
	return &Error{Status: status, Code: code, Detail: detail}
}

// AsRetryable says that the same request may succeed later.
func (e *Error) AsRetryable() *Error {
	e.Retryable = true
	return e
}

// WithProblems adds all that is wrong with the input.
func (e *Error) WithProblems(p ...errkind.Problem) *Error {
	e.Problems = append(e.Problems, p...)
	return e
}

// Wrap keeps the cause for the log.
func (e *Error) Wrap(err error) *Error {
	e.Cause = err
	return e
}

func (e *Error) Error() string { return e.Code + ": " + e.Detail }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// answers is the table of this door: what each kind of error becomes.
var answers = map[errkind.Kind]struct {
	status    int
	retryable bool
}{
	errkind.Internal:    {http.StatusInternalServerError, false},
	errkind.Invalid:     {http.StatusUnprocessableEntity, false},
	errkind.NotFound:    {http.StatusNotFound, false},
	errkind.Conflict:    {http.StatusConflict, false},
	errkind.Refused:     {http.StatusForbidden, false},
	errkind.NotNow:      {http.StatusServiceUnavailable, true},
	errkind.Damaged:     {http.StatusInternalServerError, false},
	errkind.Interrupted: {http.StatusServiceUnavailable, true},
}

// answer makes any error one that can go out. The code of a kind is its name;
// an outcome nobody knows is "unknown_outcome", and repeating with the same id
// settles it.
func answer(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	kind := kindOf(err)
	a := answers[kind]
	e := &Error{Status: a.status, Code: kind.String(), Retryable: a.retryable, Cause: err}
	if kind == errkind.Internal {
		e.Detail = "a bug of arkamsg; its log has more under the correlation id"
		return e
	}
	e.Detail, e.Hint, e.Problems = messageOf(err), errkind.Hint(err), errkind.Problems(err)
	if errkind.IsUnknown(err) {
		e.Code, e.Hint = "unknown_outcome", "repeat the request with the same id"
	}
	return e
}

// kindOf counts an ended context as "not now": the client left, or the daemon
// is about to.
func kindOf(err error) errkind.Kind {
	var known *errkind.Error
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if ended && !errors.As(err, &known) {
		return errkind.NotNow
	}
	return errkind.Of(err)
}

// messageOf is the error's own sentence, without its causes.
func messageOf(err error) string {
	var known *errkind.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return "the request was interrupted"
}
