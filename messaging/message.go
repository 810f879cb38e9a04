package messaging

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

// Type says what a message is about its work (ARKA §4).
type Type string

const (
	// TypeStatus reports where a piece of work stands; Status says where.
	TypeStatus Type = "STATUS"
	// TypeResult ends it. There is no "STATUS: complete" (ARKA §5).
	TypeResult Type = "RESULT"
	// TypeDecision settles a question.
	TypeDecision Type = "DECISION"
)

// Status is where a piece of work stands (ARKA §5). Only messages of TypeStatus
// have one.
type Status string

const (
	Todo       Status = "TODO"        // chosen, not begun
	InProgress Status = "IN_PROGRESS" // begun
	Blocked    Status = "BLOCKED"     // waiting for what the text names
	Obsolete   Status = "OBSOLETE"    // superseded; the text points to the right one
)

var (
	types    = []Type{TypeStatus, TypeResult, TypeDecision}
	statuses = []Status{Todo, InProgress, Blocked, Obsolete}
)

const (
	// MaxMessageBytes is the largest message file that is written or read.
	MaxMessageBytes = 1 << 20
	maxSubjectRunes = 200
	maxLinks        = 100
)

// Message is one document of the backlog (CONTRACT "Message file").
type Message struct {
	TID         TID      `json:"tid"`
	Type        Type     `json:"type"`
	Status      Status   `json:"status,omitempty"`
	From        Role     `json:"from"`
	To          Role     `json:"to"`
	RelatesTo   ID       `json:"relates_to,omitempty"`
	Subject     string   `json:"sujet"`
	Body        string   `json:"message"`
	Attachments []string `json:"attachments,omitempty"` // ./Attachments/name, in the thread's folder
	Output      []string `json:"output,omitempty"`      // relative to the project, only pointed at
	MessageID   ID       `json:"message_id"`
}

// State is the first part of the file's name: the status, or the type of a
// message without one.
func (m Message) State() string {
	if m.Type == TypeStatus {
		return string(m.Status)
	}
	return string(m.Type)
}

// Normalize is what a door does to text before it checks it: CRLF becomes LF,
// and a text that is not empty ends with an LF, as files do.
func (m Message) Normalize() Message {
	m.Subject = strings.TrimSpace(plaintext.Normalize(m.Subject))
	m.Body = plaintext.Normalize(m.Body)
	if m.Body != "" && !strings.HasSuffix(m.Body, "\n") {
		m.Body += "\n"
	}
	return m
}

// Validate lists everything that is wrong with a message, by the names of the
// template. An empty MessageID is allowed: files written by hand have none.
func (m Message) Validate() []errkind.Problem {
	var v validator
	v.need("tid", string(m.TID), ValidTID, "T- and six capitals or digits, such as T-7F3K2A")
	v.kind(m)
	v.need("from", string(m.From), ValidRole, wordForm)
	v.need("to", string(m.To), ValidRole, wordForm)
	v.optional("relates_to", string(m.RelatesTo), ValidID, wordForm)
	v.subject(m.Subject)
	v.body(m.Body)
	v.links("links.attachments", m.Attachments, attachmentFault)
	v.links("links.output", m.Output, outputFault)
	v.optional("message_id", string(m.MessageID), ValidID, wordForm)
	return v.found
}

type validator struct{ found []errkind.Problem }

func (v *validator) add(field, format string, args ...any) {
	v.found = append(v.found, errkind.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) need(field, value string, valid func(string) bool, form string) {
	if value == "" {
		v.add(field, "missing; want %s", form)
		return
	}
	v.optional(field, value, valid, form)
}

func (v *validator) optional(field, value string, valid func(string) bool, form string) {
	if value != "" && !valid(value) {
		v.add(field, "%q is not valid; want %s", shorten(value), form)
	}
}

func (v *validator) kind(m Message) {
	if !slices.Contains(types, m.Type) {
		v.add("type", "%q is not valid; want one of %v", shorten(string(m.Type)), types)
		return
	}
	switch known := slices.Contains(statuses, m.Status); {
	case m.Type == TypeStatus && !known:
		v.add("status", "%q is not valid; want one of %v", shorten(string(m.Status)), statuses)
	case m.Type != TypeStatus && m.Status != "":
		v.add("status", "only a message of type STATUS has one")
	}
}

func (v *validator) subject(s string) {
	bad := plaintext.CheckLine(s)
	switch {
	case strings.TrimSpace(s) == "":
		v.add("sujet", "missing; want one line of text")
	case bad != nil:
		v.add("sujet", "holds %s", bad)
	case utf8.RuneCountInString(s) > maxSubjectRunes:
		v.add("sujet", "longer than %d characters", maxSubjectRunes)
	}
}

func (v *validator) body(s string) {
	bad := plaintext.Check(s)
	switch {
	case strings.TrimSpace(s) == "":
		v.add("message", "missing; want text")
	case bad != nil:
		v.add("message", "holds %s", bad)
	case len(s) > MaxMessageBytes:
		v.add("message", "larger than %d bytes", MaxMessageBytes)
	}
}

func (v *validator) links(field string, links []string, fault func(string) string) {
	if len(links) > maxLinks {
		v.add(field, "more than %d links", maxLinks)
		return
	}
	for i, link := range links {
		if what := linkFault(link, fault); what != "" {
			v.add(fmt.Sprintf("%s[%d]", field, i), "%q %s", shorten(link), what)
		}
	}
}

func linkFault(link string, fault func(string) string) string {
	bad := plaintext.CheckLine(link)
	switch {
	case link == "":
		return "is empty"
	case bad != nil:
		return "holds " + bad.Error()
	case len(link) > 1024:
		return "is longer than 1024 bytes"
	}
	return fault(link)
}

// attachmentFault: copies lie in the folder of their thread.
func attachmentFault(link string) string {
	if !filepath.IsLocal(link) || path.Dir(path.Clean(link)) != attachmentsDir {
		return "must be ./" + attachmentsDir + "/ and a name"
	}
	return ""
}

// outputFault: a link to a deliverable stays inside the project.
func outputFault(link string) string {
	if !filepath.IsLocal(link) {
		return "must be a relative path that stays in the project"
	}
	return ""
}

// shorten keeps a foreign value in a message about it readable; %q does the
// escaping.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
