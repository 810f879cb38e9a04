// Package crash lets a test kill the real program at a named instant.
//
// Crash safety is shown by killing and counting, so the code that makes a
// promise names its steps: crash.At("sessions:after-paste"). In production
// nothing listens and the call is one comparison. When the environment holds
//
//	ARKA_CRASH_AT=label      or      ARKA_CRASH_AT=label:3
//
// the process sends itself SIGKILL the first (third) time it passes the label:
// no deferred call, no flush, no handler runs, as in a real crash.
package crash
