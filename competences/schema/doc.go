// Package schema is the one place where documents meet JSON Schema (draft
// 2020-12): the competence file, the body of a persist, the parameters of a
// primitive and, in the tests, every answer of the doors.
//
// A [Schema] reports every problem at once, each with the JSON pointer of the
// value. Messages never repeat a value: what was refused may be personal data.
package schema
