package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// Ring wakes everyone who listens on the bell at path, creating it if needed.
// It changes only the file's times: there is nothing to write that a full disk
// could refuse.
func Ring(path string) error {
	err := touch(path)
	if !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("ring: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("ring: %w", err)
	}
	return touch(path)
}

func touch(path string) error {
	now := unix.NsecToTimespec(time.Now().UnixNano())
	err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{now, now}, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return &os.PathError{Op: "ring", Path: path, Err: err}
	}
	return nil
}

// Bell creates the bell at path if needed and returns a channel that holds one
// ring for any number of rings not yet heard. The channel closes when ctx ends.
func Bell(ctx context.Context, path string) (<-chan struct{}, error) {
	if err := Ring(path); err != nil {
		return nil, err
	}
	names, err := Files(ctx, path)
	if err != nil {
		return nil, err
	}
	rings := make(chan struct{}, 1)
	go func() {
		defer close(rings)
		for range names {
			select {
			case rings <- struct{}{}:
			default: // one is waiting already
			}
		}
	}()
	return rings, nil
}

// Files reports changes of the named files until ctx ends, then closes the
// channel. Their folders are watched rather than the files, because editors
// replace a file by renaming another over it. A file that does not exist yet
// is reported when it appears; its folder must exist.
func Files(ctx context.Context, paths ...string) (<-chan string, error) {
	wanted := make(map[string]bool, len(paths))
	folders := make(map[string]bool)
	for _, p := range paths {
		p = filepath.Clean(p)
		wanted[p] = true
		folders[filepath.Dir(p)] = true
	}
	return events(ctx, folders, func(name string) bool { return wanted[filepath.Clean(name)] })
}

// Tree reports changes of any entry below root, one folder deep at a time:
// folders that appear are watched as well. The channel closes when ctx ends.
func Tree(ctx context.Context, root string) (<-chan string, error) {
	folders := map[string]bool{root: true}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			folders[filepath.Join(root, e.Name())] = true
		}
	}
	return events(ctx, folders, nil)
}

// events forwards the names that keep wants; with a nil keep it forwards all of
// them and follows new folders.
func events(ctx context.Context, folders map[string]bool, keep func(string) bool) (<-chan string, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	for f := range folders {
		if err := w.Add(f); err != nil {
			_ = w.Close()
			return nil, fmt.Errorf("watch %s: %w", f, err)
		}
	}
	out := make(chan string)
	go forward(ctx, w, keep, out)
	return out, nil
}

func forward(ctx context.Context, w *fsnotify.Watcher, keep func(string) bool, out chan<- string) {
	defer close(out)
	defer w.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Errors: // an overflow is a lost ring: the listener's sweep heals it
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if keep != nil && !keep(e.Name) {
				continue
			}
			if keep == nil && e.Has(fsnotify.Create) {
				follow(w, e.Name)
			}
			select {
			case out <- e.Name:
			case <-ctx.Done():
				return
			}
		}
	}
}

func follow(w *fsnotify.Watcher, path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = w.Add(path) // gone again already: nothing to watch
	}
}
