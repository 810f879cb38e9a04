package sessions_test

import (
	"testing"
)

func TestDeliversOnce(t *testing.T) {
	for _, tc := range []struct{ profile, trailer string }{{"codex", trailer}, {"claude", ""}, {"gemini", ""}, {"generic", ""}} {
		t.Run(tc.profile, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			program := tc.profile
			b.agent(tc.profile, program, "--profile", tc.profile)
			d := b.delivery(tc.profile, tc.profile, notice(1))
			b.delivered(d)
			b.submitted(tc.profile, notice(1)+tc.trailer)
			b.delivered(d) // a repeat proves, and types nothing
			b.submitted(tc.profile, notice(1)+tc.trailer)
		})
	}
}
