package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arkamsg/internal/errkind"
)

// failed answers err at path and returns the answer.
func failed(t *testing.T, path string, err error) (*httptest.ResponseRecorder, map[string]any) {
	t.Helper()
	ctx, _ := NewExchange(context.Background())
	r := httptest.NewRequest(http.MethodPost, path, nil).WithContext(ctx)
	w := httptest.NewRecorder()
	Fail(w, r, err)
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return w, body
}

func TestEveryKindHasAnAnswer(t *testing.T) {
	if len(answers) != len(errkind.Kinds) {
		t.Errorf("%d answers for %d kinds", len(answers), len(errkind.Kinds))
	}
	for _, k := range errkind.Kinds {
		w, body := failed(t, "/api/v1/notify", errkind.New(k, "said"))
		if w.Code != answers[k].status || w.Code < 400 || body["code"] != k.String() {
			t.Errorf("%s: status %d, code %v", k, w.Code, body["code"])
		}
	}
}

func TestFormFollowsPath(t *testing.T) {
	err := errkind.New(errkind.Invalid, "said").WithHint("do this").
		WithProblems(errkind.Problem{Field: "resource.pointer", Message: "is empty"})
	w, body := failed(t, "/api/v1/notify", err)
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
	want := `[map[message:is empty pointer:/resource/pointer]]`
	if fmt.Sprint(body["problems"]) != want || body["hint"] != "do this" || body["correlation_id"] == "" {
		t.Errorf("problem %v", body)
	}
	w, body = failed(t, "/api/v1/jobs/1/claim", err)
	if w.Header().Get("Content-Type") != "application/json" || body["message"] != "said" {
		t.Errorf("flat error %v", body)
	}
	if fmt.Sprint(body["details"]) != `map[hint:do this problems:`+want+`]` {
		t.Errorf("details %v", body["details"])
	}
}

func TestCausesStayInside(t *testing.T) {
	cause := errors.New("secret cause")
	for _, err := range []error{
		cause,
		fmt.Errorf("wrapped: %w", cause),
		errkind.New(errkind.Internal, "secret cause"),
		errkind.New(errkind.NotNow, "busy").Wrap(cause),
		NewError(418, "teapot", "no").Wrap(cause),
	} {
		w, _ := failed(t, "/api/v1/notify", err)
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v goes out: %s", err, w.Body)
		}
	}
}

func TestRetryable(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code string
		want bool
	}{
		"not now":    {errkind.New(errkind.NotNow, "busy"), "not_now", true},
		"unknown":    {errkind.New(errkind.NotNow, "commit").AsUnknown(), "unknown_outcome", true},
		"context":    {fmt.Errorf("read: %w", context.Canceled), "not_now", true},
		"invalid":    {errkind.New(errkind.Invalid, "bad"), "invalid", false},
		"invalid by": {errkind.New(errkind.Invalid, "bad").Wrap(context.Canceled), "invalid", false},
		"own":        {NewError(429, "slow_down", "wait").AsRetryable(), "slow_down", true},
	} {
		if _, body := failed(t, "/api/v1/notify", c.err); body["code"] != c.code || body["retryable"] != c.want {
			t.Errorf("%s: %v", name, body)
		}
	}
}

func TestBody(t *testing.T) {
	full := bytes.Repeat([]byte("x"), MaxBody)
	for name, c := range map[string]struct {
		contentType string
		body        io.Reader
		status      int // 0: accepted
	}{
		"plain":              {"application/json", strings.NewReader("{}"), 0},
		"charset":            {"application/json; charset=utf-8", strings.NewReader("{}"), 0},
		"largest":            {"application/json", bytes.NewReader(full), 0},
		"no type":            {"", strings.NewReader("{}"), 415},
		"form":               {"application/x-www-form-urlencoded", strings.NewReader("{}"), 415},
		"latin":              {"application/json; charset=latin1", strings.NewReader("{}"), 415},
		"announced too long": {"application/json", bytes.NewReader(append(full, 'x')), 413},
		"endless":            {"application/json", io.MultiReader(bytes.NewReader(full), strings.NewReader("x")), 413},
		"cut":                {"application/json", io.MultiReader(strings.NewReader("{"), broken{}), 400},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", c.body)
		r.Header.Set("Content-Type", c.contentType)
		_, err := Body(httptest.NewRecorder(), r)
		var e *Error
		if errors.As(err, &e); err != nil && e.Status != c.status || err == nil && c.status != 0 {
			t.Errorf("%s: %v, want %d", name, err, c.status)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
