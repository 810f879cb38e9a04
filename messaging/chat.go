package messaging

import (
	"regexp"
	"slices"
	"strings"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

// Chat is the chat line of ARKA §2, a person's alias of an envelope:
//
//	[Notification-Auto] @DEST — Message reçu de @EXP : ptr:msg:<ID> — [Message-READ]
type Chat struct {
	To, From Role
	ID       ID
}

const (
	chatStart  = "[Notification-Auto] "
	chatMiddle = " — Message reçu de "
	chatEnd    = " — [Message-READ]"
	chatForm   = chatStart + "@DEST" + chatMiddle + "@EXP : ptr:msg:<ID>" + chatEnd
)

var mention = regexp.MustCompile(`@([A-Za-z0-9][A-Za-z0-9._-]*)`)

// String is the line.
func (c Chat) String() string {
	return chatStart + "@" + string(c.To) + chatMiddle + "@" + string(c.From) + " : ptr:msg:" + string(c.ID) + chatEnd
}

// ParseChat reads exactly that line; white space around it is ignored. More
// than one recipient is an Invalid error whose message is one question, for the
// door to ask and then be silent (ARKA §2).
func ParseChat(line string) (Chat, error) {
	line = strings.TrimSpace(line)
	if bad := plaintext.CheckLine(line); bad != nil {
		return Chat{}, errkind.New(errkind.Invalid, "the chat line holds %s", bad)
	}
	start, rest, okMiddle := strings.Cut(line, chatMiddle)
	to, okStart := strings.CutPrefix(start, chatStart)
	if okMiddle && okStart {
		if asked := questionFor(to); asked != nil {
			return Chat{}, asked
		}
	}
	from, pointer, okPointer := strings.Cut(rest, " : ptr:msg:")
	id, okEnd := strings.CutSuffix(pointer, chatEnd)
	to, okTo := roleOf(to)
	from, okFrom := roleOf(from)
	if !(okMiddle && okStart && okPointer && okEnd && okTo && okFrom && ValidID(id)) {
		return Chat{}, errkind.New(errkind.Invalid, "this is not a notification line").
			WithHint("write it as: %s", chatForm)
	}
	return Chat{Role(to), Role(from), ID(id)}, nil
}

func roleOf(s string) (string, bool) {
	role, ok := strings.CutPrefix(s, "@")
	return role, ok && ValidRole(role)
}

// questionFor asks which one is meant when several are named.
func questionFor(to string) error {
	var named []string
	for _, m := range mention.FindAllStringSubmatch(to, -1) {
		if role := "@" + shorten(m[1]); !slices.Contains(named, role) {
			named = append(named, role)
		}
	}
	if len(named) < 2 {
		return nil
	}
	last := len(named) - 1
	return errkind.New(errkind.Invalid, "which one do you mean: %s or %s?", strings.Join(named[:last], ", "), named[last])
}

// Envelope is the envelope that the line stands for. What a line does not say
// (project, provider, prefix, time) comes from defaults.
func (c Chat) Envelope(defaults Envelope) Envelope {
	e := defaults
	e.Type, e.V = "notify", 1
	e.MessageID, e.ToAgent, e.Sender = c.ID, string(c.To), string(c.From)
	e.Session = ""
	e.Resource = Resource{Pointer{ID: c.ID}.String()}
	return e
}

// Chat is the line that stands for an envelope. Only an envelope that names its
// recipient and its sender by role and points at its own message has one.
func (e Envelope) Chat() (Chat, error) {
	p, err := ParsePointer(e.Resource.Pointer)
	if err != nil {
		return Chat{}, err
	}
	if p.ID == "" || p.ID != e.MessageID || !ValidRole(e.ToAgent) || !ValidRole(e.Sender) {
		return Chat{}, errkind.New(errkind.Invalid,
			"this envelope has no chat line: it needs to_agent, sender and a pointer to its own message_id")
	}
	return Chat{Role(e.ToAgent), Role(e.Sender), e.MessageID}, nil
}
