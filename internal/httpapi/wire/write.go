package wire

import (
	"encoding/json"
	"net/http"
	"strings"

	"arkamsg/internal/errkind"
)

// JSON answers with v.
func JSON(w http.ResponseWriter, status int, v any) { write(w, status, "application/json", v) }

// Fail answers with the error, in the form that the path promises, and leaves
// it to the log line.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	x := ExchangeOf(r.Context())
	x.Err = err
	e := answer(err)
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="arkamsg"`) // RFC 9110 demands one
	}
	if flat(r.URL.Path) {
		write(w, e.Status, "application/json", flatError{
			Code: e.Code, Message: e.Detail, Details: details(e),
			Retryable: e.Retryable, CorrelationID: x.CorrelationID,
		})
		return
	}
	write(w, e.Status, "application/problem+json", problem{
		Type: "about:blank", Title: http.StatusText(e.Status), Status: e.Status, Detail: e.Detail,
		Code: e.Code, Retryable: e.Retryable, CorrelationID: x.CorrelationID,
		Hint: e.Hint, Problems: pointed(e.Problems),
	})
}

// problem is RFC 9457 with our extensions.
type problem struct {
	Type          string  `json:"type"`
	Title         string  `json:"title"`
	Status        int     `json:"status"`
	Detail        string  `json:"detail"`
	Code          string  `json:"code"`
	Retryable     bool    `json:"retryable"`
	CorrelationID string  `json:"correlation_id"`
	Hint          string  `json:"hint,omitempty"`
	Problems      []fault `json:"problems,omitempty"`
}

// fault is one thing wrong with the body, with a JSON pointer to it.
type fault struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// flatError is the form of the agents' protocols.
type flatError struct {
	Code          string       `json:"code"`
	Message       string       `json:"message"`
	Details       *flatDetails `json:"details,omitempty"`
	Retryable     bool         `json:"retryable"`
	CorrelationID string       `json:"correlation_id"`
}

type flatDetails struct {
	Hint     string  `json:"hint,omitempty"`
	Problems []fault `json:"problems,omitempty"`
}

func details(e *Error) *flatDetails {
	if e.Hint == "" && len(e.Problems) == 0 {
		return nil
	}
	return &flatDetails{Hint: e.Hint, Problems: pointed(e.Problems)}
}

// flatPaths answer errors in the flat form.
var flatPaths = []string{
	"/ops/", "/api/v1/ops/", "/api/v1/auth/", "/api/v1/app/", "/api/v1/agents/", "/api/v1/jobs",
}

func flat(path string) bool {
	for _, p := range flatPaths {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

func pointed(problems []errkind.Problem) []fault {
	var faults []fault
	for _, p := range problems {
		faults = append(faults, fault{Pointer: pointer(p.Field), Message: p.Message})
	}
	return faults
}

// pointer turns a dotted path into a JSON pointer (RFC 6901); one that is a
// pointer already stays, and "" is the whole body.
func pointer(field string) string {
	if field == "" || strings.HasPrefix(field, "/") {
		return field
	}
	return "/" + strings.ReplaceAll(field, ".", "/")
}

// write sends one JSON value. An answer is for its client alone and is never
// taken for a page.
func write(w http.ResponseWriter, status int, contentType string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a value of ours that JSON cannot hold: the outermost handler answers 500
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client is gone: nobody to tell
}
