// Package refusal is the closed list of reasons for which a competence, or a
// step of the shadow cycle, is not accepted.
//
// A [Refusal] is an errkind error with a code and with what the other side
// needs to mend its request: pointers, the valid values, the time to wait. The
// HTTP door has one table from code to status, and a test proves that the
// table is complete.
//
// No text in a refusal repeats a value of the request.
package refusal
