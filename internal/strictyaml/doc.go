// Package strictyaml reads YAML that anybody may have written, and writes YAML
// that people read. It is the only owner of yaml.v3.
//
// YAML is larger than what we mean by it. A document that we accept is one
// tree of mappings with plain keys, sequences and scalars; everything else is
// refused: aliases, anchors, tags, merge keys, a second document, duplicate
// keys, keys that are no scalars, unknown keys, byte order marks, other
// encodings than UTF-8, and characters that YAML or a terminal takes for more
// than a character (RELIABILITY rule 12).
//
// It is bounded before it is clever. [Parse] looks at the size first, then at
// the bytes, then builds the tree without resolving anything, then counts nodes
// and depth. Decoding begins only with a tree that passed. What this costs at
// most is measured by the tests.
//
// Every problem is reported, each with its field and line, up to a bound: the
// writer of a file mends it once. Strings are checked after decoding, because
// `"\e"` is six harmless bytes in the file and an ESC in the text.
//
// Conversions never lose anything. A string field takes the scalar's text as it
// stands (`to: NO` is "NO", `1.10` is "1.10"); a number field takes only a
// number that fits.
package strictyaml
