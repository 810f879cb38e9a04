package openapitest

import (
	"net/http"
	"strings"
	"testing"
)

const small = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},
"paths":{
 "/a/{id}":{"get":{"responses":{"200":{"description":"","headers":{"X-Id":{"$ref":"#/components/headers/Id"}},
   "content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},"404":{"$ref":"#/components/responses/None"}}}},
 "/a/all":{"get":{"responses":{"200":{"description":"","content":{"text/plain":{"schema":{"type":"string"}}}}}},
           "delete":{"responses":{"204":{"description":""}}}}},
"components":{"headers":{"Id":{"required":true,"schema":{"type":"string"}}},
 "responses":{"None":{"description":"","content":{"application/problem+json":{"schema":{"type":"object","required":["code"]}}}}},
 "schemas":{"A":{"type":"object","additionalProperties":false,"required":["at"],"properties":{"at":{"$ref":"#/components/schemas/Time"}}},
            "Time":{"type":"string","format":"date-time"}}}}`

func TestCheck(t *testing.T) {
	spec, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"at":"2026-01-02T03:04:05.678Z"}`
	for name, c := range map[string]struct {
		method, path string
		status       int
		contentType  string
		body         string
		want         string // part of the complaint; "" for none
	}{
		"good":           {"GET", "/a/1", 200, "application/json", good, ""},
		"charset":        {"GET", "/a/1", 200, "application/json; charset=utf-8", good, ""},
		"head":           {"HEAD", "/a/1", 200, "application/json", "", ""},
		"by reference":   {"GET", "/a/1", 404, "application/problem+json", `{"code":"x"}`, ""},
		"literal first":  {"GET", "/a/all", 200, "text/plain", "x", ""},
		"no content":     {"DELETE", "/a/all", 204, "", "", ""},
		"unknown path":   {"GET", "/b", 200, "application/json", good, "no operation"},
		"empty segment":  {"GET", "/a/", 200, "application/json", good, "no operation"},
		"unknown status": {"GET", "/a/1", 500, "application/json", good, "never answers 500"},
		"other type":     {"GET", "/a/1", 200, "text/html", good, "not promised"},
		"extra field":    {"GET", "/a/1", 200, "application/json", `{"at":"2026-01-02T03:04:05Z","b":1}`, "additional"},
		"missing field":  {"GET", "/a/1", 200, "application/json", `{}`, "missing"},
		"bad format":     {"GET", "/a/1", 200, "application/json", `{"at":"yesterday"}`, "date-time"},
		"bad reference":  {"GET", "/a/1", 404, "application/problem+json", `{}`, "missing"},
		"not JSON":       {"GET", "/a/1", 200, "application/json", `{`, "EOF"},
		"two values":     {"GET", "/a/1", 200, "application/json", good + good, "invalid character"},
		"stray body":     {"DELETE", "/a/all", 204, "", "x", "none is promised"},
	} {
		header := http.Header{"X-Id": {"1"}, "Content-Type": {c.contentType}}
		err := spec.Check(c.method, c.path, c.status, header, []byte(c.body))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := spec.Check("GET", "/a/1", 200, http.Header{"Content-Type": {"application/json"}}, []byte(good)); err == nil {
		t.Error("a missing required header passes")
	}
}

func TestParseRefusesDeadReferences(t *testing.T) {
	for _, name := range []string{"#/components/responses/None", "#/components/schemas/A", "#/components/headers/Id"} {
		if _, err := Parse([]byte(strings.Replace(small, name, name+"x", 1))); err == nil {
			t.Errorf("a reference to %sx passes", name)
		}
	}
}
