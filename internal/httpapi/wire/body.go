package wire

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
)

// MaxBody is the largest body that a route reads, in bytes (CONTRACT "HTTP").
const MaxBody = 1 << 20

// Body reads a JSON body whole. It refuses another media type with 415, a body
// beyond [MaxBody] with 413 (before reading it, when the client says how long
// it is) and one that does not arrive in time with 408.
func Body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, NewError(http.StatusUnsupportedMediaType, "unsupported_media_type",
			"the body must be application/json in UTF-8")
	}
	if r.ContentLength > MaxBody {
		return nil, tooLarge()
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var limit *http.MaxBytesError
	switch {
	case err == nil:
		return b, nil
	case errors.As(err, &limit):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, NewError(http.StatusRequestTimeout, "body_timeout", "the body did not arrive in time").AsRetryable()
	default:
		return nil, NewError(http.StatusBadRequest, "body_unreadable", "the body did not arrive whole")
	}
}

func tooLarge() error {
	return NewError(http.StatusRequestEntityTooLarge, "body_too_large", "the body is larger than 1 MiB")
}

// isJSON accepts application/json, with no charset or that of JSON.
func isJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" {
		return false
	}
	charset, named := params["charset"]
	return !named || charset == "utf-8" || charset == "UTF-8"
}
