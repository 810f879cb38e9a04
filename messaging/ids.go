package messaging

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"github.com/oklog/ulid/v2"
)

// ID is a message id: the idempotency key of its sender, unique in a journal.
type ID string

// Role is whom a message is from or to ("PMO").
type Role string

// TID is the number of a piece of work that several messages speak of
// ("T-7F3K2A").
type TID string

// word is the grammar of ids, roles and the parts of a session name. It leaves
// nothing that a shell, tmux, YAML or a path could understand.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

var tidForm = regexp.MustCompile(`^T-[0-9A-Z]{6}$`)

const wordForm = "1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"

// ValidID tells whether a caller may use this id.
func ValidID(s string) bool { return word.MatchString(s) }

// ValidRole tells whether this can be a role.
func ValidRole(s string) bool { return word.MatchString(s) }

// ValidTID tells whether this is T- and six capitals or digits.
func ValidTID(s string) bool { return tidForm.MatchString(s) }

// NewID returns a fresh id: a ULID, so that ids sort by time.
func NewID() ID { return ID(ulid.MustNew(ulid.Now(), rand.Reader).String()) }

// NewTID returns a fresh work number. Its alphabet is the ULID's, which has no
// letters that look alike.
func NewTID() TID {
	const alphabet = ulid.Encoding
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = alphabet[b[i]%32]
	}
	return "T-" + TID(b[:])
}

// pathID is the id of a file that names none itself: it follows the path, so it
// stays the same as long as the file stays where it is.
func pathID(path string) ID {
	sum := sha256.Sum256([]byte(path))
	return "f-" + ID(hex.EncodeToString(sum[:13]))
}
