package journal

import (
	"strings"
	"testing"
)

// What a verification found outlives it, until another one or a person's word.
func TestProofIsKept(t *testing.T) {
	j, clock := openTest(t)
	if _, known, err := j.Proof(); known || err != nil {
		t.Fatalf("a proof of nothing: %v %v", known, err)
	}
	fillLane(t, j, 4)
	check(t, j.Keep(must(j.Verify(t.Context()))))
	p, known, err := j.Proof()
	if !known || err != nil || !p.OK() || p.Events != 4 || !p.At.Equal(clock.Wall()) {
		t.Fatalf("%+v %v %v", p, known, err)
	}
	raw(t, j, `DELETE FROM transition WHERE seq = 3`)
	check(t, j.Keep(must(j.Verify(t.Context()))))
	if p, known, _ := j.Proof(); !known || p.OK() || !strings.Contains(p.First, "missing") || !strings.Contains(p.Remedy, "backup") {
		t.Fatalf("%+v %v", p, known)
	}
	check(t, j.AcceptHead(t.Context()))
	if p, known, _ := j.Proof(); known {
		t.Errorf("%+v is about the journal as it was", p)
	}
}
