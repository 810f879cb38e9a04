// Package document is the competence as a file: its fields, its schema, and
// the way it is written and read.
//
// One JSON Schema (competence.schema.yaml) is the only definition. The writer
// checks against it before a byte is written, the reader after, and
// "arkamsg competence check" uses the same one. The 17 fields are those of the
// seed (§2); provenance, the eighteenth, says where the competence came from.
//
// [Generate] is pure: the same event gives the same bytes. That is what lets a
// restart tell its own half-finished work from a file somebody dropped there
// by hand: it generates again and compares.
//
// # States
//
//	candidate   persisted, in candidate/; a person promotes it
//	incomplete  a partial learning, in candidate/; never promoted; unlearn it
//	            and persist the whole
//	supervised  promoted by a person, in supervised/
//	stable      promoted by a person, in stable/
//
// A file is read through durable.ReadFile: a regular file with one link and at
// most [MaxBytes]. Whatever does not read, parse or fit the schema is refused
// with every problem and its place; nothing is half loaded.
package document
