package errkind

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what an error means to the one who asked.
type Kind uint8

const (
	// Internal is a bug of ours. An error without a kind counts as one.
	Internal Kind = iota
	// Invalid is input or usage that cannot be accepted as it stands.
	Invalid
	// NotFound names something that does not exist.
	NotFound
	// Conflict is a clash with what is already there: the same id with another
	// body, a second daemon, a newer schema, a stale fence.
	Conflict
	// Refused is a rule saying no: not allowed, missing session, permission.
	Refused
	// NotNow may succeed later as it stands: time-out, daemon, tmux or disk
	// unavailable.
	NotNow
	// Damaged is something that was checked and found wrong.
	Damaged
	// Interrupted is the person's own Ctrl-C.
	Interrupted
)

// Kinds lists every kind, so that a door's table can be tested for completeness.
var Kinds = []Kind{Internal, Invalid, NotFound, Conflict, Refused, NotNow, Damaged, Interrupted}

var kindNames = [...]string{"internal", "invalid", "not_found", "conflict", "refused", "not_now", "damaged", "interrupted"}

// String returns the kind's stable, lower-case name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Problem is one thing wrong with an input.
type Problem struct {
	Field   string `json:"field,omitempty"` // dotted path, JSON pointer or flag
	Line    int    `json:"line,omitempty"`  // 1-based; 0 when the input has no lines
	Message string `json:"message"`
}

// String renders the problem as "field (line 3): message".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Field)
	if p.Line > 0 {
		fmt.Fprintf(&b, " (line %d)", p.Line)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Error is an error that a door can show as it is.
type Error struct {
	Kind     Kind
	Message  string
	Hint     string // what to type next; empty if there is nothing to do
	Problems []Problem
	Unknown  bool // the effect may have happened: repeat only with the same id
	Err      error
}

// New returns an error of the kind with a formatted message.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// WithHint says what to type next.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithProblems adds all that is wrong with the input.
func (e *Error) WithProblems(p ...Problem) *Error {
	e.Problems = append(e.Problems, p...)
	return e
}

// Wrap keeps the cause for errors.Is and for the log.
func (e *Error) Wrap(err error) *Error {
	e.Err = err
	return e
}

// AsUnknown marks the outcome as unknown: it may have happened.
func (e *Error) AsUnknown() *Error {
	e.Unknown = true
	return e
}

// Error joins message, problems and cause; the hint is left to the door.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	for _, p := range e.Problems {
		b.WriteString("; ")
		b.WriteString(p.String())
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Of returns the kind of the first *Error in err's tree; Internal without one.
func Of(err error) Kind {
	if e := as(err); e != nil {
		return e.Kind
	}
	return Internal
}

// Hint returns what to type next, or "": the first hint in err's tree.
func Hint(err error) (hint string) {
	walk(err, func(e *Error) bool { hint = e.Hint; return hint == "" })
	return hint
}

// Problems returns everything the error says is wrong with the input.
func Problems(err error) []Problem {
	if e := as(err); e != nil {
		return e.Problems
	}
	return nil
}

// IsUnknown reports whether the effect may have happened all the same.
func IsUnknown(err error) (unknown bool) {
	walk(err, func(e *Error) bool { unknown = e.Unknown; return !unknown })
	return unknown
}

// walk visits every *Error in err's tree, joined errors included, depth first,
// while visit asks for more.
func walk(err error, visit func(*Error) bool) bool {
	if err == nil {
		return true
	}
	if e, ok := err.(*Error); ok && !visit(e) {
		return false
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		return walk(wrapper.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if !walk(inner, visit) {
				return false
			}
		}
	}
	return true
}

func as(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
