package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestNotify(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	first := d.unix("POST", "/api/v1/notify", envelope("m1")).want(t, 202, "")
	if first.fields["state"] != "queued" || first.fields["created"] != true {
		t.Errorf("receipt %s", first.body)
	}
	again := d.tcp("POST", "/api/v1/notify", envelope("m1")).want(t, 200, "")
	if again.fields["created"] != false || again.fields["event_id"] != first.fields["event_id"] {
		t.Errorf("repeat %s", again.body)
	}
	other := strings.Replace(envelope("m1"), "LD", "QA", 1)
	d.unix("POST", "/api/v1/notify", other).want(t, 409, "conflict")

	shown := d.unix("GET", "/api/v1/notify/m1", "").want(t, 200, "")
	if body, _ := shown.fields["body"].(map[string]any); shown.fields["target"] != "arka-lab-PMO-codex" || body["sender"] != "LD" {
		t.Errorf("shown %s", shown.body)
	}
	d.unix("GET", "/api/v1/notify/m2", "").want(t, 404, "not_found")
}

func TestNotifyListsAllProblems(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	got := d.unix("POST", "/api/v1/notify", `{"type":"x","v":1,"ts":1767225600000,"colour":1,"provider":"codex","session_prefix":"arka","session":"s","resource":{"pointer":""}}`).
		want(t, 422, "invalid")
	for _, pointer := range []string{"/type", "/message_id", "/colour", "/resource/pointer"} {
		if !strings.Contains(got.body, `"pointer":"`+pointer+`"`) {
			t.Errorf("no problem at %s: %s", pointer, got.body)
		}
	}
}

func TestNotifyReadsStrictly(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	good := envelope("m1")
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"duplicate key":         {strings.Replace(good, `"v":1`, `"v":1,"v":1`, 1), 422, "invalid"},
		"duplicate in the case": {strings.Replace(good, `"v":1`, `"v":1,"V":1`, 1), 422, "invalid"},
		"unknown field":         {strings.Replace(good, `"v":1`, `"v":1,"x":1`, 1), 422, "invalid"},
		"trailing value":        {good + `{}`, 422, "invalid"},
		"trailing text":         {good + `x`, 422, "invalid"},
		"two lines":             {good + "\n" + good, 422, "invalid"},
		"no object":             {`[]`, 422, "invalid"},
		"cut":                   {good[:40], 422, "invalid"},
		"too large":             {good + strings.Repeat(" ", 1<<20), 413, "body_too_large"},
	} {
		if got := d.unix("POST", "/api/v1/notify", c.body); got.status != c.status || got.fields["code"] != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	d.unix("POST", "/api/v1/notify", good, "Content-Type", "text/plain").want(t, 415, "unsupported_media_type")
	d.unix("POST", "/api/v1/notify", good, "Content-Type", "").want(t, 415, "unsupported_media_type")
	if sum, err := d.room.Journal.Summary(t.Context()); err != nil || sum.Events != 0 {
		t.Errorf("%d events were kept (%v)", sum.Events, err)
	}
}

func TestUnknownPathAndMethod(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	got := d.unix("DELETE", "/api/v1/notify", "").want(t, 405, "method_not_allowed")
	if got.header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", got.header.Get("Allow"))
	}
	d.unix("POST", "/ops/readiness", "{}").want(t, 405, "method_not_allowed")
	d.unix("HEAD", "/healthz", "").want(t, 200, "")
	for _, path := range []string{"/", "/nothing", "/api/v1//notify", "/api/v1/notify/m1/x"} {
		r := plain(t, d, http.MethodGet, path)
		if r.status != 404 || r.fields["code"] != "not_found" {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}
