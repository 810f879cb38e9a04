package sessions

import (
	"errors"
	"testing"

	"arkamsg/internal/errkind"
)

func TestAddress(t *testing.T) {
	d := Directory{
		Allow: Allow{
			"PMO": {"arka-labs-PMO-codex", "arka-labs-PMO-claude"},
			"LD":  {"my-own-name"},
			"QA":  {"qa-claude"},
		},
		Aliases: map[string]Role{"arka-agent01": "PMO"},
		Project: "labs", Prefix: "arka", Provider: "codex",
	}
	for _, tc := range []struct {
		name string
		req  Request
		want Address
		err  error
	}{
		{"composed", Request{ToAgent: "PMO"}, Address{"PMO", "arka-labs-PMO-codex", "codex"}, nil},
		{"alias", Request{ToAgent: "arka-agent01"}, Address{"PMO", "arka-labs-PMO-codex", "codex"}, nil},
		{"other provider", Request{ToAgent: "PMO", Provider: "claude"}, Address{"PMO", "arka-labs-PMO-claude", "claude"}, nil},
		{"the only session of a role", Request{ToAgent: "LD"}, Address{"LD", "my-own-name", "codex"}, nil},
		{"its provider by its name", Request{ToAgent: "QA"}, Address{"QA", "qa-claude", "claude"}, nil},
		{"session as it is", Request{Session: "my-own-name"}, Address{"LD", "my-own-name", "codex"}, nil},
		{"overridden and not there", Request{ToAgent: "LD", Project: "other"}, Address{}, ErrNotAllowed},
		{"another role's session", Request{ToAgent: "PMO", Session: "my-own-name"}, Address{}, ErrNotAllowed},
		{"unknown session", Request{Session: "bash"}, Address{}, ErrNotAllowed},
		{"unknown role", Request{ToAgent: "CEO"}, Address{}, ErrNotAllowed},
	} {
		got, err := d.Address(tc.req)
		if !errors.Is(err, tc.err) || tc.err == nil && got != tc.want {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
		if err != nil && (errkind.Of(err) != errkind.Refused || errkind.Hint(err) == "") {
			t.Errorf("%s: %v has kind %v", tc.name, err, errkind.Of(err))
		}
	}
	if _, err := d.Address(Request{}); errkind.Of(err) != errkind.Invalid {
		t.Errorf("nothing asked for: %v", err)
	}
}
