package messaging

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"arkamsg/internal/errkind"
	"arkamsg/internal/strictyaml"
)

// document is the template of ARKA §4 as strictyaml decodes it.
type document struct {
	TID       TID    `yaml:"tid"`
	Type      Type   `yaml:"type"`
	Status    Status `yaml:"status"`
	From      Role   `yaml:"from"`
	To        Role   `yaml:"to"`
	RelatesTo ID     `yaml:"relates_to"`
	Subject   string `yaml:"sujet"`
	Body      string `yaml:"message"`
	Links     struct {
		Attachments []string `yaml:"attachments"`
		Output      []string `yaml:"output"`
	} `yaml:"links"`
	MessageID ID `yaml:"message_id"`
}

func (d document) message() Message {
	return Message{
		TID: d.TID, Type: d.Type, Status: d.Status, From: d.From, To: d.To, RelatesTo: d.RelatesTo,
		Subject: d.Subject, Body: d.Body, Attachments: d.Links.Attachments, Output: d.Links.Output, MessageID: d.MessageID,
	}
}

// Decode reads one message file. All problems are listed, each with field and
// line; the message holds what could be understood all the same.
func Decode(data []byte) (Message, []errkind.Problem) {
	doc, problems := strictyaml.Parse(data, strictyaml.Limits{MaxBytes: MaxMessageBytes})
	if problems != nil {
		return Message{}, problems
	}
	var d document
	found := doc.Decode(&d)
	m := d.message()
	for _, p := range m.Validate() {
		p.Line = doc.Line(p.Field)
		if !mentions(found, p.Field) { // a field of the wrong type is also missing
			found = append(found, p)
		}
	}
	return m, found
}

func mentions(problems []errkind.Problem, field string) bool {
	for _, p := range problems {
		if p.Field == field {
			return true
		}
	}
	return false
}

// Encode writes a message in the form of CONTRACT "Message file". The text goes
// into a block when a block carries it unchanged, else into quotes; what was
// written is decoded and compared.
func Encode(m Message) ([]byte, error) {
	if problems := m.Validate(); problems != nil {
		return nil, invalid(problems)
	}
	for _, text := range []string{block(m.Body), quote(m.Body)} {
		data := []byte(render(m, text))
		if back, problems := Decode(data); problems == nil && sameContent(back, m) {
			return data, nil
		}
	}
	return nil, invalid([]errkind.Problem{{Field: "message",
		Message: fmt.Sprintf("cannot be written unchanged in a file of %d bytes", MaxMessageBytes)}})
}

func invalid(problems []errkind.Problem) error {
	return errkind.New(errkind.Invalid, "the message is not valid").WithProblems(problems...)
}

// sameContent compares messages; a list without items is like none.
func sameContent(a, b Message) bool {
	for _, list := range []*[]string{&a.Attachments, &a.Output, &b.Attachments, &b.Output} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return reflect.DeepEqual(a, b)
}

func render(m Message, text string) string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	line("tid", plain(string(m.TID)))
	line("type", string(m.Type))
	line("status", string(m.Status))
	line("from", plain(string(m.From)))
	line("to", plain(string(m.To)))
	line("relates_to", plain(string(m.RelatesTo)))
	line("sujet", quote(m.Subject))
	line("message", text)
	if len(m.Attachments)+len(m.Output) > 0 {
		b.WriteString("links:\n")
	}
	line("  attachments", list(m.Attachments))
	line("  output", list(m.Output))
	line("message_id", plain(string(m.MessageID)))
	return b.String()
}

// block is the text as a literal block, its indicators chosen so that nothing
// is lost: 2 when the first line's indentation could not be told from the
// block's, - without a final LF, + with more than one.
func block(text string) string {
	var b strings.Builder
	b.WriteString("|")
	if strings.IndexAny(text, " \t\n") == 0 {
		b.WriteString("2")
	}
	switch body := strings.TrimSuffix(text, "\n"); {
	case body == text:
		b.WriteString("-")
	case body == "" || strings.HasSuffix(body, "\n"):
		b.WriteString("+")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString("\n")
		if line != "" {
			b.WriteString("  ")
			b.WriteString(line)
		}
	}
	return b.String()
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

// quote writes checked text in double quotes.
func quote(s string) string { return `"` + quoter.Replace(s) + `"` }

// likeOther are words that some reader of YAML takes for a number, a date, a
// truth value or nothing.
var likeOther = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n|[0-9][0-9._-]*(e[0-9]+)?|0[xob][0-9a-f_]+)$`)

// plain writes a word of our grammar, in quotes where it would not be read as
// text.
func plain(s string) string {
	if likeOther.MatchString(s) {
		return quote(s)
	}
	return s
}

var plainLink = regexp.MustCompile(`^[A-Za-z0-9./_][A-Za-z0-9./_-]*$`)

// list writes links in one line; none at all as an empty string.
func list(links []string) string {
	if len(links) == 0 {
		return ""
	}
	items := make([]string, len(links))
	for i, link := range links {
		items[i] = quote(link)
		if plainLink.MatchString(link) && !likeOther.MatchString(link) && link != "." && link != ".." {
			items[i] = link
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}
