package messaging

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	isoZ           = "20060102T150405Z"
	dash           = "—" // U+2014, without spaces around it
	attachmentsDir = "Attachments"
	maxSlug        = 60
)

var (
	threadForm = regexp.MustCompile(`^(\d{8}T\d{6}Z)—([a-z0-9][a-z0-9-]{0,79})$`)
	fileForm   = regexp.MustCompile(`^([A-Z_]+?)__([A-Za-z0-9._-]+)@([A-Za-z0-9._-]+)__([A-Za-z0-9][A-Za-z0-9._-]*)\.yaml$`)
	// byHand is what a thread's folder may be called by people: one word.
	byHand = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}\p{M}._—-]*$`)
	states = []string{"TODO", "IN_PROGRESS", "BLOCKED", "OBSOLETE", "RESULT", "DECISION"}
)

// threadName is the folder of a thread begun at a time about a subject.
func threadName(at time.Time, subject string) string {
	return at.UTC().Format(isoZ) + dash + slug(subject)
}

// parseThread reads a folder's name; ok is false for folders named otherwise,
// which count as threads all the same.
func parseThread(name string) (at time.Time, topic string, ok bool) {
	m := threadForm.FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, name, false
	}
	at, err := time.Parse(isoZ, m[1])
	return at, m[2], err == nil
}

// fileName is the n-th name for a message, from 1: the slug, then slug-2 …
func fileName(m Message, n int) string {
	topic := slug(m.Subject)
	if n > 1 {
		topic = fmt.Sprintf("%s-%d", topic, n)
	}
	return fmt.Sprintf("%s__%s@%s__%s.yaml", m.State(), m.From, m.To, topic)
}

// fileParts is what a file's name says about the message in it.
type fileParts struct{ state, from, to, topic string }

func parseFileName(name string) (fileParts, bool) {
	m := fileForm.FindStringSubmatch(name)
	if m == nil || !slices.Contains(states, m[1]) {
		return fileParts{}, false
	}
	return fileParts{m[1], m[2], m[3], m[4]}, true
}

// undecomposed are letters that Unicode does not take apart and that people
// nevertheless write as two or as their plain sister.
var undecomposed = strings.NewReplacer("œ", "oe", "Œ", "OE", "æ", "ae", "Æ", "AE", "ß", "ss",
	"ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D", "ı", "i")

// ascii folds a text to ASCII letters, digits and the characters in keep; runs
// of anything else become one dash. No dash or dot stands at its ends.
func ascii(s, keep string, most int) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(undecomposed.Replace(shorten4k(s))) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(keep, r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= most {
			break
		}
	}
	return strings.Trim(b.String(), "-.")
}

// shorten4k bounds the work on a text of which only the beginning will be used.
func shorten4k(s string) string { return s[:min(len(s), 4096)] }

// slug is a subject as part of a file name: lower case, digits, dashes, at most
// 60, never empty.
func slug(subject string) string {
	if s := strings.ToLower(ascii(subject, "", maxSlug)); s != "" {
		return s
	}
	return "message"
}
