package messaging

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"arkamsg/internal/durable"
	"arkamsg/internal/plaintext"
)

// Thread is a folder of the backlog with what lies in it.
type Thread struct {
	Name     string
	Topic    string    // the slug; the whole name for a folder named otherwise
	Began    time.Time // by its name, else its oldest message
	Last     time.Time // its newest message
	State    string    // that of its newest valid message; "" without any
	Messages []Entry   // oldest first
	Problems int       // entries with problems
}

// Threads reads the whole backlog, newest thread first.
func (t *Tree) Threads(ctx context.Context) ([]Thread, error) {
	byName := map[string]*Thread{}
	err := t.Scan(ctx, func(e Entry) error {
		thread := byName[e.Thread]
		if thread == nil {
			thread = &Thread{Name: e.Thread}
			byName[e.Thread] = thread
		}
		thread.Messages = append(thread.Messages, e)
		return nil
	})
	threads := make([]Thread, 0, len(byName))
	for _, thread := range byName {
		thread.sum()
		threads = append(threads, *thread)
	}
	slices.SortFunc(threads, func(a, b Thread) int {
		return cmp.Or(b.Began.Compare(a.Began), strings.Compare(a.Name, b.Name))
	})
	return threads, err
}

// sum orders the messages and draws the thread's conclusions from them.
func (t *Thread) sum() {
	slices.SortStableFunc(t.Messages, func(a, b Entry) int { return a.At.Compare(b.At) })
	t.Began, t.Topic, _ = parseThread(t.Name)
	for _, e := range t.Messages {
		if t.Began.IsZero() {
			t.Began = e.At
		}
		if e.Problems != nil {
			t.Problems++
			continue
		}
		t.State, t.Last = e.Message.State(), e.At
	}
}

// Index writes <root>/index/THREADS.md, a page that people read without this
// program, and returns its path relative to the root. It is made on demand only
// (ARKA §6) and replaced as a whole.
func (t *Tree) Index(ctx context.Context) (string, error) {
	threads, err := t.Threads(ctx)
	if err != nil {
		return "", err
	}
	if err := durable.MkdirAll(t.root, path.Dir(indexFile), folderPerm); err != nil {
		return "", err
	}
	return indexFile, durable.Replace(t.root, indexFile, []byte(page(threads)), filePerm)
}

func page(threads []Thread) string {
	var b strings.Builder
	b.WriteString("# Threads\n\nMade by `arkamsg threads index`; the files in msg/ are the truth.\n")
	for _, t := range threads {
		fmt.Fprintf(&b, "\n## %s\n\n", mark(t.Name))
		if t.State != "" {
			fmt.Fprintf(&b, "%s since %s\n\n", t.State, stamp(t.Last))
		}
		b.WriteString("| when | state | from | to | subject | file |\n|---|---|---|---|---|---|\n")
		for _, e := range t.Messages {
			b.WriteString(row(e))
		}
	}
	return b.String()
}

func row(e Entry) string {
	m := e.Message
	state, subject := m.State(), mark(m.Subject)
	if e.Problems != nil {
		state, subject = "INVALID", mark(e.Problems[0].String())
		if n := len(e.Problems); n > 1 {
			subject += fmt.Sprintf(" (and %d more)", n-1)
		}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", stamp(e.At), state,
		mark(string(m.From)), mark(string(m.To)), subject, mark(path.Base(e.Path)))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// marks are the characters that would mean something to a reader of Markdown.
var marks = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "<", "&lt;", "&", "&amp;",
	"[", `\[`, "]", `\]`, "*", `\*`, "_", `\_`, "#", `\#`)

// mark puts foreign text on one line of a Markdown page.
func mark(s string) string { return marks.Replace(plaintext.EscapeLine(s)) }
