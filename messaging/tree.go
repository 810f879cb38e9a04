package messaging

import (
	"os"
	"sync"
	"time"

	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

const (
	msgDir    = "msg"
	outboxDir = ".outbox"
	indexFile = "index/THREADS.md"

	filePerm   = 0o600
	folderPerm = 0o700
)

// Tree is an open backlog. It may be used by several goroutines; other
// processes may write the same tree at any time.
type Tree struct {
	root *os.Root
	dir  string

	mu    sync.Mutex
	cache map[string]cached // by path; headers only, so that it stays small
}

// Ref is where a message lies.
type Ref struct {
	ID     ID     `json:"message_id"`
	Path   string `json:"path"`   // relative to the tree's root, with slashes
	Thread string `json:"thread"` // the folder's name
}

// Open opens the backlog in a folder, which is created (0700) if it does not
// exist. Close it when done.
func Open(dir string) (*Tree, error) {
	if err := os.MkdirAll(dir, folderPerm); err != nil {
		return nil, errkind.New(errkind.Refused, "backlog %q", dir).Wrap(err).
			WithHint("check messaging.root in arka.yaml")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errkind.New(errkind.Refused, "backlog %q", dir).Wrap(err).
			WithHint("check messaging.root in arka.yaml")
	}
	return &Tree{root: root, dir: dir, cache: map[string]cached{}}, nil
}

// Close releases the folder.
func (t *Tree) Close() error { return t.root.Close() }

// Dir returns the folder that was opened.
func (t *Tree) Dir() string { return t.dir }

// Read returns one message. Problems of its content are an Invalid error that
// lists them with field and line; a file that is none of ours to open is
// Refused.
func (t *Tree) Read(name string) (Message, error) {
	m, problems, err := t.load(name)
	if err == nil && problems != nil {
		err = errkind.New(errkind.Invalid, "%q is not a valid message", name).WithProblems(problems...)
	}
	return m, err
}

// load reads a file and gives the message an id if it names none.
func (t *Tree) load(name string) (Message, []errkind.Problem, error) {
	data, err := durable.ReadFile(t.root, name, MaxMessageBytes)
	if err != nil {
		return Message{MessageID: pathID(name)}, nil, err
	}
	m, problems := Decode(data)
	if !ValidID(string(m.MessageID)) {
		m.MessageID = pathID(name)
	}
	return m, problems, nil
}

// at is when a message was written: its id says so if it is a ULID, else the
// file does.
func writtenAt(id ID, modified time.Time) time.Time {
	if at, ok := idTime(id); ok {
		return at
	}
	return modified
}
