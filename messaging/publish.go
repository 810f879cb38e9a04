package messaging

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

// Draft is a message on its way into the tree.
type Draft struct {
	Message     Message   `json:"message"`
	Thread      string    `json:"thread,omitempty"`       // folder or topic; empty: that of RelatesTo, else a new one
	AttachFiles []string  `json:"attach_files,omitempty"` // absolute paths; copied
	At          time.Time `json:"at"`                     // names a new thread; zero: now

	fresh bool // the id was made here and now, so it cannot be in the tree yet
}

// Publish writes a message into its thread and copies its attachments. The same
// MessageID again returns the first file; another message under that id in the
// thread is a Conflict. What the draft leaves open (id, tid, thread) is filled
// in as [Tree.Complete] does.
func (t *Tree) Publish(ctx context.Context, d Draft) (Ref, error) {
	if err := t.Complete(ctx, &d); err != nil {
		return Ref{}, err
	}
	sources, missing := openSources(d.AttachFiles)
	defer sources.close()
	dir := path.Join(msgDir, d.Thread)
	problems := d.Message.Validate()
	if problems != nil || missing != nil && !t.isThere(dir) {
		return Ref{}, invalid(append(problems, missing...))
	}
	if err := durable.MkdirAll(t.root, dir, folderPerm); err != nil {
		return Ref{}, err
	}
	release, err := durable.HoldDir(t.root, dir)
	if err != nil {
		return Ref{}, err
	}
	defer release()
	return t.publishHeld(ctx, d, sources, missing)
}

func (t *Tree) isThere(dir string) bool {
	_, err := t.root.Lstat(dir)
	return err == nil
}

// publishHeld runs with the thread's lock in hand. Attachments that are missing
// by now do not matter to a message that was published with them.
func (t *Tree) publishHeld(ctx context.Context, d Draft, sources sources, missing []errkind.Problem) (Ref, error) {
	names, err := durable.Names(t.root, path.Join(msgDir, d.Thread))
	if err != nil {
		return Ref{}, err
	}
	if !d.fresh {
		ref, found, err := t.already(ctx, d, names)
		if err != nil || found {
			return ref, err
		}
	}
	if missing != nil {
		return Ref{}, invalid(missing)
	}
	links, err := t.attach(d.Thread, sources)
	if err != nil {
		return Ref{}, err
	}
	d.Message.Attachments = append(slices.Clip(d.Message.Attachments), links...)
	return t.write(d, names)
}

// already looks for the draft's id in its thread.
func (t *Tree) already(ctx context.Context, d Draft, names []string) (Ref, bool, error) {
	ref, m, err := t.findIn(ctx, d.Thread, names, d.Message.MessageID)
	switch {
	case errkind.Of(err) == errkind.NotFound:
		return Ref{}, false, nil
	case err != nil:
		return Ref{}, false, err
	}
	if !sameIntent(m, d.Message) {
		return ref, true, errkind.New(errkind.Conflict, "%s already says something else", d.Message.MessageID).
			WithHint("arkamsg pull %s --peek shows what; send with another --id", d.Message.MessageID)
	}
	return ref, true, nil
}

// sameIntent compares what a sender chose, not what was filled in for him: the
// tid may have been made up, attachments were renamed while they were copied.
func sameIntent(a, b Message) bool {
	a.TID, b.TID = "", ""
	a.Attachments, b.Attachments = nil, nil
	return sameContent(a, b)
}

// write puts the message under the first free of its names. Names are taken by
// hand, too, without our lock: then the next one is tried.
func (t *Tree) write(d Draft, names []string) (Ref, error) {
	data, err := Encode(d.Message)
	if err != nil {
		return Ref{}, err
	}
	for n := 1; ; n++ {
		name := fileName(d.Message, n)
		if _, taken := slices.BinarySearch(names, name); taken {
			continue
		}
		full := path.Join(msgDir, d.Thread, name)
		crash.At("messaging:before-publish")
		if err = durable.WriteNew(t.root, full, data, filePerm); errors.Is(err, fs.ErrExist) {
			continue
		}
		crash.At("messaging:after-publish")
		return Ref{d.Message.MessageID, full, d.Thread}, err
	}
}

// Complete fills in what a draft leaves open, so that repeating it later leads
// to the same place: the id, the thread, the tid (that of RelatesTo, else a new
// one), the status TODO and the time.
func (t *Tree) Complete(ctx context.Context, d *Draft) error {
	m := &d.Message
	if m.MessageID == "" {
		m.MessageID, d.fresh = NewID(), true
	}
	if d.At.IsZero() {
		d.At = time.Now()
	}
	d.At = d.At.UTC().Truncate(time.Millisecond)
	if m.Type == "" {
		m.Type = TypeStatus
	}
	if m.Type == TypeStatus && m.Status == "" {
		m.Status = Todo
	}
	if err := t.relate(ctx, d); err != nil {
		return err
	}
	if m.TID == "" {
		m.TID = NewTID()
	}
	return t.resolveThread(d)
}

// relate takes thread and tid from the message that this one answers.
func (t *Tree) relate(ctx context.Context, d *Draft) error {
	m := &d.Message
	if !ValidID(string(m.RelatesTo)) || d.Thread != "" && m.TID != "" {
		return nil // none, or none to look for: Validate says so
	}
	ref, first, err := t.Find(ctx, m.RelatesTo)
	switch {
	case errkind.Of(err) == errkind.NotFound && d.Thread == "":
		return errkind.New(errkind.NotFound, "relates_to: no message %s in the backlog", m.RelatesTo).
			WithHint("name the thread with --thread, or leave --relates-to out")
	case err != nil && errkind.Of(err) != errkind.NotFound:
		return err
	case d.Thread == "":
		d.Thread = ref.Thread
	}
	if m.TID == "" && ValidTID(string(first.TID)) {
		m.TID = first.TID
	}
	return nil
}

// resolveThread turns a topic into a folder's name: an existing folder by that
// name, else the newest thread about that topic, else a new thread.
func (t *Tree) resolveThread(d *Draft) error {
	if _, _, exact := parseThread(d.Thread); exact {
		return nil
	}
	if d.Thread == "" {
		d.Thread = threadName(d.At, d.Message.Subject)
		return nil
	}
	names, err := durable.Names(t.root, msgDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slices.Contains(names, d.Thread) && !strings.HasPrefix(d.Thread, ".") {
		return nil
	}
	topic := slug(d.Thread)
	for _, name := range slices.Backward(names) {
		if _, about, ok := parseThread(name); ok && about == topic {
			d.Thread = name
			return nil
		}
	}
	d.Thread = d.At.Format(isoZ) + dash + topic
	return nil
}
