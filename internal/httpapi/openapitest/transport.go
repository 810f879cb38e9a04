package openapitest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Transport passes requests on to next and fails the test for every response
// that the document does not promise. The response comes back with its body
// whole.
func (s *Spec) Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return transport{spec: s, t: t, next: next}
}

type transport struct {
	spec *Spec
	t    testing.TB
	next http.RoundTripper
}

func (c transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	if err := c.spec.Check(r.Method, r.URL.Path, resp.StatusCode, resp.Header, body); err != nil {
		c.t.Errorf("against /openapi.json: %v", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
