package messaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"

	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

// Entry is what lies in the tree: a message, or something in its place.
//
// Path and Thread are names as the disk has them and may hold anything; print
// them through plaintext.EscapeLine. The message has no Body: [Tree.Read] gets
// it. With Problems, the rest of the message is what could be understood.
type Entry struct {
	Ref
	Message  Message
	Problems []errkind.Problem
	ModTime  time.Time
	At       time.Time // when it was written: by its id, else ModTime
}

// cached remembers a file as long as it stays the same file.
type cached struct {
	modTime time.Time
	size    int64
	inode   uint64
	entry   Entry
}

// Scan calls f for every message and every thing that is wrong, thread by
// thread in the order of names. A file that did not change since the last Scan
// of this Tree is not read again. An error of f ends the scan and is returned.
func (t *Tree) Scan(ctx context.Context, f func(Entry) error) error {
	threads, err := t.threadNames()
	if err != nil {
		return err
	}
	seen := map[ID]string{}
	for _, thread := range threads {
		if err := t.scanThread(ctx, thread, seen, f); err != nil {
			return err
		}
	}
	t.forget(seen)
	return nil
}

// threadNames lists what lies in msg/; a tree without it is an empty one.
func (t *Tree) threadNames() ([]string, error) {
	names, err := durable.Names(t.root, msgDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(names, passedOver), err
}

// passedOver are names that are nobody's message: hidden ones and general.yaml.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || name == "general.yaml"
}

func (t *Tree) scanThread(ctx context.Context, thread string, seen map[ID]string, f func(Entry) error) error {
	dir := path.Join(msgDir, thread)
	names, err := durable.Names(t.root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // went away meanwhile
	}
	if err != nil {
		return f(broken(dir, thread, err))
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return errkind.New(errkind.Interrupted, "reading the backlog was stopped").Wrap(err)
		}
		e, ok := t.entry(thread, path.Join(dir, name))
		if !ok {
			continue
		}
		if err := f(noteDuplicate(e, seen)); err != nil {
			return err
		}
	}
	return nil
}

// noteDuplicate adds a problem to the second file with an id. A file that is no
// message claims no id, so that a stray copy does not spoil its original.
func noteDuplicate(e Entry, seen map[ID]string) Entry {
	if first, twice := seen[e.ID]; twice {
		e.Problems = append(slices.Clip(e.Problems), errkind.Problem{Field: "message_id",
			Message: fmt.Sprintf("%s is also the id of %q", e.ID, first)})
		return e
	}
	if e.Problems == nil {
		seen[e.ID] = e.Path
	}
	return e
}

// entry looks at one name in a thread; ok is false for what is no message and
// no problem: attachments, notes, hidden files.
func (t *Tree) entry(thread, name string) (Entry, bool) {
	info, err := t.root.Lstat(name)
	switch base := path.Base(name); {
	case passedOver(base) || errors.Is(err, fs.ErrNotExist):
		return Entry{}, false
	case err != nil:
		return broken(name, thread, err), true
	case info.IsDir() && base == attachmentsDir, info.Mode().IsRegular() && path.Ext(base) != ".yaml":
		return Entry{}, false
	}
	if e, ok := t.remembered(name, info); ok {
		return e, true
	}
	e := t.examine(thread, name, info)
	t.remember(name, info, e)
	return e, true
}

func (t *Tree) examine(thread, name string, info fs.FileInfo) Entry {
	m, problems, err := t.load(name)
	if err != nil {
		problems = []errkind.Problem{{Message: err.Error()}}
	} else {
		problems = append(problems, nameProblems(path.Base(name), m)...)
		if !byHand.MatchString(thread) {
			problems = append(problems, errkind.Problem{Field: "thread", Message: fmt.Sprintf("%q is not isoZ—slug", thread)})
		}
	}
	m.Body = ""
	return Entry{Ref: Ref{m.MessageID, name, thread}, Message: m, Problems: problems,
		ModTime: info.ModTime(), At: writtenAt(m.MessageID, info.ModTime())}
}

// nameProblems compares a file's name with its content; people read the name.
func nameProblems(name string, m Message) []errkind.Problem {
	parts, ok := parseFileName(name)
	if !ok {
		return []errkind.Problem{{Field: "name", Message: fmt.Sprintf("%q is not STATUS__from@to__slug.yaml", name)}}
	}
	var found []errkind.Problem
	for _, c := range []struct{ field, name, content string }{
		{"status", parts.state, m.State()}, {"from", parts.from, string(m.From)}, {"to", parts.to, string(m.To)},
	} {
		if c.name != c.content {
			found = append(found, errkind.Problem{Field: c.field,
				Message: fmt.Sprintf("the file's name says %q, its content %q", c.name, shorten(c.content))})
		}
	}
	return found
}

// broken is the entry of a name that cannot be looked into.
func broken(name, thread string, err error) Entry {
	id := pathID(name)
	return Entry{Ref: Ref{id, name, thread}, Message: Message{MessageID: id},
		Problems: []errkind.Problem{{Message: err.Error()}}}
}

func (t *Tree) remembered(name string, info fs.FileInfo) (Entry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.cache[name]
	return c.entry, ok && c.modTime.Equal(info.ModTime()) && c.size == info.Size() && c.inode == inode(info)
}

func (t *Tree) remember(name string, info fs.FileInfo, e Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cache[name] = cached{info.ModTime(), info.Size(), inode(info), e}
}

// forget drops files that a complete scan did not meet.
func (t *Tree) forget(seen map[ID]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.cache) <= len(seen) {
		return
	}
	for name := range t.cache {
		if _, err := t.root.Lstat(name); err != nil {
			delete(t.cache, name)
		}
	}
}

func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// idTime reads the time out of an id made by NewID.
func idTime(id ID) (time.Time, bool) {
	u, err := ulid.ParseStrict(string(id))
	if err != nil {
		return time.Time{}, false
	}
	at := ulid.Time(u.Time()).UTC()
	return at, at.Year() >= 2000 && at.Year() < 3000
}

// Find returns the message with an id. It reads as few files as it can: those
// whose bytes hold the id, newest thread first. Within a thread a file with
// problems counts only when there is no other. NotFound without any.
func (t *Tree) Find(ctx context.Context, id ID) (Ref, Message, error) {
	threads, err := t.threadNames()
	if err != nil {
		return Ref{}, Message{}, err
	}
	for _, thread := range slices.Backward(threads) {
		names, err := durable.Names(t.root, path.Join(msgDir, thread))
		if err != nil {
			continue // listed by Scan; nothing to find in it
		}
		ref, m, err := t.findIn(ctx, thread, names, id)
		if err == nil || errkind.Of(err) != errkind.NotFound {
			return ref, m, err
		}
	}
	return Ref{}, Message{}, notFound(id)
}

func notFound(id ID) error {
	return errkind.New(errkind.NotFound, "no message %q in the backlog", shorten(string(id))).
		WithHint("arkamsg threads lists what there is")
}

// findIn looks for an id among the names of one thread.
func (t *Tree) findIn(ctx context.Context, thread string, names []string, id ID) (ref Ref, m Message, err error) {
	err = notFound(id)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return Ref{}, Message{}, errkind.New(errkind.Interrupted, "the search was stopped").Wrap(err)
		}
		if path.Ext(name) != ".yaml" || passedOver(name) {
			continue
		}
		full := path.Join(msgDir, thread, name)
		switch found, sound, ok := t.holds(full, id); {
		case ok && sound:
			return Ref{id, full, thread}, found, nil
		case ok && err != nil:
			ref, m, err = Ref{id, full, thread}, found, nil
		}
	}
	return ref, m, err
}

// holds reads a file and decodes it only if the id can be in it. sound: the
// file is a message without problems.
func (t *Tree) holds(name string, id ID) (m Message, sound, ok bool) {
	data, err := durable.ReadFile(t.root, name, MaxMessageBytes)
	derived := pathID(name)
	if err != nil || !bytes.Contains(data, []byte(id)) && id != derived {
		return Message{}, false, false
	}
	m, problems := Decode(data)
	if !ValidID(string(m.MessageID)) {
		m.MessageID = derived
	}
	sound = problems == nil && nameProblems(path.Base(name), m) == nil
	return m, sound, m.MessageID == id
}
