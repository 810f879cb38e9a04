package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"arkamsg/internal/watch"
)

const patience = 5 * time.Second

func heard[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatal("nothing was heard")
	}
	return v
}

func TestBellIsHeardAndMergesRings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bell")
	rings, err := watch.Bell(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for range 10 {
			if err := watch.Ring(path); err != nil {
				t.Fatal(err)
			}
		}
		heard(t, rings)
	}
}

func TestRingRefusesALink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bell")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	_ = watch.Ring(path)
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("the ring followed a link out of the home")
	}
}

func TestFilesSeesAReplacedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arka.yaml")
	names, err := watch.Files(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "other"), path); err != nil {
		t.Fatal(err)
	}
	if got := heard(t, names); got != path {
		t.Errorf("heard %q, want only %q", got, path)
	}
}

func TestTreeFollowsNewFolders(t *testing.T) {
	dir := t.TempDir()
	names, err := watch.Tree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	thread := filepath.Join(dir, "thread")
	if err := os.Mkdir(thread, 0o700); err != nil {
		t.Fatal(err)
	}
	heard(t, names)
	file := filepath.Join(thread, "TODO.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := heard(t, names); got != file {
		t.Errorf("heard %q, want %q", got, file)
	}
}

func TestChannelClosesWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rings, err := watch.Bell(ctx, filepath.Join(t.TempDir(), "bell"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range rings { // a ring from creation may still be there
	}
}
