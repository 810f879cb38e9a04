package clients

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// Secret is a credential in the clear. It exists while it is handed over.
type Secret string

// String keeps a secret out of logs and formats; Reveal is the way out.
func (Secret) String() string { return "[secret]" }

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// Reveal returns the credential, for the one time it is shown.
func (s Secret) Reveal() string { return string(s) }

// Prefixes tell a leaked credential from other text; scanners look for such.
const (
	secretPrefix  = "arks_"
	tokenPrefix   = "arkt_"
	sessionPrefix = "arku_"
)

func newSecret(prefix string) Secret {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return Secret(prefix + base64.RawURLEncoding.EncodeToString(b))
}

func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return "c-" + base64.RawURLEncoding.EncodeToString(b)
}

func hash(s string) []byte {
	h := sha256.Sum256([]byte(s))
	return h[:]
}

func same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
