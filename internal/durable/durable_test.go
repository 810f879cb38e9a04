package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

func openRoot(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteNewNeverOverwrites(t *testing.T) {
	root, dir := openRoot(t)
	if err := durable.WriteNew(root, "a", []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := durable.WriteNew(root, "a", []byte("second"), 0o600)
	if !errors.Is(err, fs.ErrExist) || errkind.Of(err) != errkind.Conflict {
		t.Fatalf("second write: %v", err)
	}
	if got := content(t, filepath.Join(dir, "a")); got != "first" {
		t.Errorf("content is %q", got)
	}
	onlyEntries(t, dir, "a")
}

func TestOneOfManyWritersWins(t *testing.T) {
	root, dir := openRoot(t)
	var wg sync.WaitGroup
	won := make(chan string, 16)
	for i := range cap(won) {
		wg.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), 5000)
			if err := durable.WriteNew(root, "x", []byte(text), 0o600); err == nil {
				won <- text
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || content(t, filepath.Join(dir, "x")) != <-won {
		t.Fatalf("%d winners, or the content is not the winner's", len(won))
	}
	onlyEntries(t, dir, "x")
}

// A file that is just being published has two names for an instant; a reader at
// that instant sees the file, not a hard link.
func TestReaderMeetsAWriter(t *testing.T) {
	root, _ := openRoot(t)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				data, err := durable.ReadFile(root, "a", 100)
				if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && string(data) != "whole" {
					t.Errorf("read %q: %v", data, err)
				}
			}
		})
	}
	for range 100 {
		if err := errors.Join(durable.WriteNew(root, "a", []byte("whole"), 0o600), durable.Remove(root, "a")); err != nil {
			t.Error(err)
		}
	}
	close(ended)
	wg.Wait()
}

func TestReplaceSetsContentAndMode(t *testing.T) {
	root, dir := openRoot(t)
	for _, text := range []string{"old", "new"} {
		if err := durable.Replace(root, "a", []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if got := content(t, filepath.Join(dir, "a")); got != text {
			t.Errorf("content is %q", got)
		}
	}
	if info, _ := os.Stat(filepath.Join(dir, "a")); info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v", info.Mode())
	}
	onlyEntries(t, dir, "a")
}

func TestAppendLineCutsATornLine(t *testing.T) {
	root, dir := openRoot(t)
	path := filepath.Join(dir, "log")
	long := strings.Repeat("x", 10_000)
	for before, want := range map[string]string{
		"":                    "new\n",
		"one\n":               "one\nnew\n",
		"one\ntorn":           "one\nnew\n",
		"torn from the start": "new\n",
		"one\n" + long:        "one\nnew\n",
	} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := durable.AppendLine(root, "log", []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != want {
			t.Errorf("after %.20q: %.40q", before, got)
		}
	}
	if err := durable.AppendLine(root, "log", []byte("two\nlines"), 0o600); errkind.Of(err) != errkind.Invalid {
		t.Errorf("two lines: %v", err)
	}
}

func TestMkdirAllKeepsModes(t *testing.T) {
	root, dir := openRoot(t)
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := durable.MkdirAll(root, "a/b/c", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]fs.FileMode{"a": 0o755, "a/b": 0o700, "a/b/c": 0o700} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// onlyEntries fails if a temporary file was left behind.
func onlyEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("folder holds %q, want %q", got, want)
	}
}
