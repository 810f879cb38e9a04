// Package strictjson reads JSON that a stranger sent, without losing or
// guessing anything.
//
// encoding/json is generous where a door must not be: of two equal keys it
// keeps the last, it matches struct fields in any case, it turns an invalid
// byte or half a surrogate pair into U+FFFD, and it stops at the first value
// and ignores the rest. Each of these lets two readers of one body see two
// different things. [Parse] refuses all of them, and is bounded before it
// builds anything: size, then depth and number of values while reading.
//
// Errors name an offset and never quote the input: what was refused may be
// personal data, and an error ends up in answers and logs.
//
// [Normal] and [Canonical] give one form to equal documents, so that "the same
// body" and "what was read back is what was written" are comparisons of bytes.
package strictjson
