package sessions_test

import (
	"testing"

	"arkamsg/sessions"
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

// A repeat after the text has left the screen proves nothing, and says so.
func TestEchoThatScrolledAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Hurry()
	b.agent("agent", "generic", "--profile", "generic")
	first := b.delivery("agent", "generic", notice(1000))
	b.delivered(first)
	for n := range 4 {
		b.delivered(b.delivery("agent", "generic", notice(n)))
	}
	b.seesNot("agent", "M1000")
	b.want(b.deliver(first), sessions.Indeterminate, sessions.ReasonIndeterminate)
}
