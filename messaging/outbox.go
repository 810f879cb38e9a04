package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"arkamsg/internal/crash"
	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

// Intent is what a push is about to do: publish the draft, then append the
// envelope's event.
type Intent struct {
	Envelope json.RawMessage `json:"envelope"`
	Draft    Draft           `json:"draft"`
	Notify   bool            `json:"notify"` // the event is work, not only a fact
}

// Intention is an entry of the outbox whose lock is in our hand. End it with
// Done or Release.
type Intention struct {
	Intent
	// Adopted: an earlier push of this id died and left the entry. Intent is what
	// that one was about to do, not what was asked for now. Carry it out first;
	// what is asked for now is then a repeat or a conflict like any other.
	Adopted bool

	tree *Tree
	file *os.File
	name string
}

// outboxPatience is how often a push looks whether another one of the same id
// has ended.
const outboxPatience = 5 * time.Millisecond

// Intend records an intent durably before anything else happens, its draft
// completed so that repeating it leads to the same file. It waits, as long as
// ctx allows, while a living push of the same id holds the entry.
func (t *Tree) Intend(ctx context.Context, in Intent) (*Intention, error) {
	if err := t.Complete(ctx, &in.Draft); err != nil {
		return nil, err
	}
	if problems := in.Draft.Message.Validate(); problems != nil {
		return nil, invalid(problems)
	}
	if err := durable.MkdirAll(t.root, outboxDir, folderPerm); err != nil {
		return nil, err
	}
	data, err := json.Marshal(in)
	if err != nil {
		return nil, errkind.New(errkind.Internal, "record the intent").Wrap(err)
	}
	name := path.Join(outboxDir, string(in.Draft.Message.MessageID)+".json")
	for {
		held, err := t.intendOnce(in, name, data)
		if held != nil || err != nil {
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, errkind.New(errkind.NotNow, "another push of %s is under way", in.Draft.Message.MessageID).
				Wrap(ctx.Err()).WithHint("repeat with the same --id")
		case <-time.After(outboxPatience):
		}
	}
}

// intendOnce makes the entry or adopts a dead one; nil while it is held.
func (t *Tree) intendOnce(in Intent, name string, data []byte) (*Intention, error) {
	f, err := durable.CreateHeld(t.root, name, data, filePerm)
	if err == nil {
		crash.At("messaging:after-intent")
		return &Intention{Intent: in, tree: t, file: f, name: name}, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return t.adopt(name)
}

// adopt takes an entry whose holder is dead; nil if the holder lives or the
// entry is gone.
func (t *Tree) adopt(name string) (*Intention, error) {
	f, held, err := durable.TryHold(t.root, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !held {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	in := &Intention{Adopted: true, tree: t, file: f, name: name}
	data, err := durable.ReadFile(t.root, name, 4*MaxMessageBytes)
	if err == nil {
		err = json.Unmarshal(data, &in.Intent)
	}
	if err != nil {
		f.Close()
		return nil, errkind.New(errkind.Damaged, "the outbox entry %q cannot be read", name).Wrap(err).
			WithHint("look at it, then delete it: the push behind it was never acknowledged")
	}
	return in, nil
}

// Done removes the entry: file and event are both there, or neither ever will.
func (i *Intention) Done() error {
	crash.At("messaging:before-done")
	defer i.file.Close()
	if err := i.tree.root.Remove(i.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errkind.New(errkind.Internal, "remove the outbox entry %q", i.name).Wrap(err)
	}
	return nil
}

// Release leaves the entry for a later repair.
func (i *Intention) Release() { i.file.Close() }

// Underway reports whether a push of this id, alive or dead, has an entry: its
// event is yet to come.
func (t *Tree) Underway(id ID) (bool, error) {
	if !ValidID(string(id)) {
		return false, nil // no push can have it
	}
	_, err := t.root.Lstat(path.Join(outboxDir, string(id)+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Pending returns the intents whose pushes died, each with its lock in hand:
// repair them and call Done, or Release. An entry that cannot be read is an
// error beside the others, which are returned all the same.
func (t *Tree) Pending(ctx context.Context) ([]*Intention, error) {
	names, err := durable.Names(t.root, outboxDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var pending []*Intention
	var broken error
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") || ctx.Err() != nil {
			continue
		}
		in, err := t.adopt(path.Join(outboxDir, name))
		if in != nil {
			pending = append(pending, in)
		}
		broken = errors.Join(broken, err)
	}
	_, err = durable.Sweep(t.root, outboxDir)
	return pending, errors.Join(broken, err)
}
