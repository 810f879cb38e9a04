package lea

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"arkamsg/competences/pii"
	"arkamsg/competences/refusal"
	"arkamsg/competences/strictjson"
	"arkamsg/internal/errkind"
	"arkamsg/internal/httpapi/wire"
	"arkamsg/internal/plaintext"
)

// statuses is the table of this door. A test demands that it knows every code.
var statuses = map[refusal.Code]int{
	refusal.Unauthenticated:     http.StatusUnauthorized,
	refusal.UnsupportedMedia:    http.StatusUnsupportedMediaType,
	refusal.TooLarge:            http.StatusRequestEntityTooLarge,
	refusal.InvalidJSON:         http.StatusBadRequest,
	refusal.MachineIDMissing:    http.StatusBadRequest,
	refusal.MachineMismatch:     http.StatusForbidden,
	refusal.IdempotencyMismatch: http.StatusConflict,
	refusal.RateLimited:         http.StatusTooManyRequests,
	refusal.SchemaInvalid:       http.StatusBadRequest,
	refusal.NameInvalid:         http.StatusBadRequest,
	refusal.AgentUnknown:        http.StatusBadRequest,
	refusal.StepsEmpty:          http.StatusBadRequest,
	refusal.PrimitiveUnknown:    http.StatusBadRequest,
	refusal.ParamsInvalid:       http.StatusBadRequest,
	refusal.DropoutMissing:      http.StatusBadRequest,
	refusal.PIIDetected:         http.StatusBadRequest,
	refusal.UnlearningActive:    http.StatusConflict,
	refusal.CompetenceExists:    http.StatusConflict,
	refusal.PersistFailed:       http.StatusInternalServerError,
	refusal.RoundTripFailed:     http.StatusInternalServerError,
	refusal.OutcomeUnknown:      http.StatusInternalServerError,
	refusal.NotFound:            http.StatusNotFound,
	refusal.SessionOpen:         http.StatusConflict,
	refusal.SessionClosed:       http.StatusConflict,
	refusal.SessionNotEnded:     http.StatusConflict,
	refusal.WrongSequence:       http.StatusConflict,
	refusal.StaleRevision:       http.StatusConflict,
	refusal.SessionFull:         http.StatusConflict,
}

// problem is RFC 9457 with what helps to mend the request.
type problem struct {
	Type          string        `json:"type"`
	Title         string        `json:"title"`
	Status        int           `json:"status"`
	Detail        string        `json:"detail"`
	Code          string        `json:"code"`
	Retryable     bool          `json:"retryable"`
	CorrelationID string        `json:"correlation_id"`
	Problems      []fault       `json:"problems,omitempty"`
	Findings      []pii.Finding `json:"findings,omitempty"`
	Valid         []string      `json:"valid,omitempty"`
	Expected      *int64        `json:"expected,omitempty"`
}

type fault struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// fail answers with a refusal; any other error is the shared door's to tell.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	ref := refusal.Of(err)
	if ref == nil {
		wire.Fail(w, r, err)
		return
	}
	x := wire.ExchangeOf(r.Context())
	x.Err = err
	status := statuses[ref.Code]
	p := problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: ref.Err.Message, Code: string(ref.Code),
		Retryable: errkind.Of(ref) == errkind.NotNow, CorrelationID: x.CorrelationID,
		Findings: ref.Findings, Valid: ref.Valid,
	}
	for _, f := range ref.Err.Problems {
		p.Problems = append(p.Problems, fault{f.Field, f.Message})
	}
	if ref.Code == refusal.WrongSequence || ref.Code == refusal.StaleRevision {
		p.Expected = &ref.Expected
	}
	write(w, ref, p)
}

func write(w http.ResponseWriter, ref *refusal.Refusal, p problem) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if ref.Code == refusal.RateLimited {
		h.Set("Retry-After", strconv.Itoa(seconds(ref.RetryAfter)))
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone: nobody to tell
}

// seconds rounds up: a client that waits that long is let in.
func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// parseReason reads the body of an unlearning: {"reason": "…"}.
func parseReason(raw []byte) (string, error) {
	body, err := strictjson.Object(raw, strictjson.Default)
	if err != nil {
		return "", refusal.New(refusal.InvalidJSON, errkind.Invalid, "%v", err)
	}
	reason, ok := body["reason"].(string)
	if !ok || len(body) != 1 || reason == "" || len(reason) > 2000 || plaintext.Check(reason) != nil {
		return "", refusal.New(refusal.SchemaInvalid, errkind.Invalid, "the body does not fit the schema").
			With(errkind.Problem{Field: "/reason", Message: "must be the only field, a text of 1 to 2000 bytes"})
	}
	return reason, nil
}
