// Package pii finds personal data of patients in a document before it is kept.
//
// The golden rule of the seed (§6, HDS) is that no patient data travels with a
// competence. The detector is a net with two tiers, because a screen is full
// of numbers that mean nobody:
//
//   - Tier one stands alone: a NIR or an IBAN whose check digits are right, an
//     e-mail address, a French telephone number. Chance produces these rarely.
//   - Tier two needs a label near: something NIR-shaped, a number of 9 to 11
//     digits (IPP, NDA, RPPS), a date. The label is a word beside the value or
//     the key that holds it.
//
// Before anything is compared, text is folded: NFKC, every digit of Unicode to
// its ASCII digit, every kind of blank to one, marks stripped, lower case. So
// full-width digits, thin spaces and NBSP hide nothing.
//
// What must never be taken for a person is tested by property: coordinates,
// epoch milliseconds, UUIDs, window handles, versions, IP addresses and
// timestamps.
//
// Guarantee: a [Finding] holds a type and a JSON pointer. The value is in no
// field, no error and no log, and a key that is itself personal data is shown
// as "*" in every pointer that passes it.
//
// The rules are data (rules.yaml); a file of the same form replaces them. The
// detector is a net and not a proof: it knows no names of people.
package pii
