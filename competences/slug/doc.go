// Package slug turns the name a person gave a competence into the name of its
// file, or refuses it.
//
// The result is a file name and an identifier, so the rule is an allow-list:
// whatever is not a letter a–z, a digit or an underscore after transliteration
// is gone, and what is left must match ^[a-z][a-z0-9_]{2,79}$. Nothing is
// truncated and nothing is suffixed: two names with one slug collide, and the
// person is told (seed §2).
//
// A name that tries to be a path ("../x"), or hides control or bidirectional
// characters, is refused rather than cleaned: nobody types these by accident.
//
// Guarantee: a slug is stable under Make, is never a path, never a hidden file
// and never a device name of Windows.
package slug
