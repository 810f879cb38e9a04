package refusal_test

import (
	"fmt"
	"strings"
	"testing"

	"arkamsg/competences/pii"
	"arkamsg/competences/refusal"
	"arkamsg/internal/errkind"
)

func TestCodesAreDistinct(t *testing.T) {
	seen := map[refusal.Code]bool{}
	for _, c := range refusal.Codes {
		if c == "" || seen[c] || strings.ToUpper(string(c)) != string(c) {
			t.Errorf("code %q", c)
		}
		seen[c] = true
	}
}

func TestRefusalSurvivesWrapping(t *testing.T) {
	err := fmt.Errorf("door: %w", refusal.New(refusal.RateLimited, errkind.NotNow, "wait"))
	if r := refusal.Of(err); r == nil || r.Code != refusal.RateLimited || errkind.Of(err) != errkind.NotNow {
		t.Errorf("%v", err)
	}
	if refusal.Of(fmt.Errorf("other")) != nil {
		t.Error("a refusal out of nothing")
	}
}

func TestPIIShowsTypeAndPlaceOnly(t *testing.T) {
	r := refusal.PII([]pii.Finding{{Type: "NIR", Pointer: "/a/0"}})
	if r.Code != refusal.PIIDetected || !strings.Contains(r.Error(), "/a/0: looks like NIR") {
		t.Error(r)
	}
}
