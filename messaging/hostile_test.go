package messaging

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/errkind"
	"arkamsg/internal/plaintext"
)

func writeFile(t *testing.T, tree *Tree, name, text string) {
	t.Helper()
	full := filepath.Join(tree.Dir(), name)
	mustSucceed(t, os.MkdirAll(filepath.Dir(full), 0o700))
	mustSucceed(t, os.WriteFile(full, []byte(text), 0o600))
}

const thread = "msg/20260601T182005Z—x/"

func good(t *testing.T) string {
	t.Helper()
	m := sampleMessage()
	m.RelatesTo, m.MessageID, m.Attachments, m.Output = "", "", nil, nil
	data, err := Encode(m)
	mustSucceed(t, err)
	return string(data)
}

func TestHandWrittenFilesAreFirstClass(t *testing.T) {
	tree := openTree(t)
	name := thread + "TODO__LD@PMO__x.yaml"
	writeFile(t, tree, name, good(t))
	all := entries(t, tree)
	if len(all) != 1 || all[0].Problems != nil || !strings.HasPrefix(string(all[0].ID), "f-") || !ValidID(string(all[0].ID)) {
		t.Fatalf("%+v", all)
	}
	ref, m, err := tree.Find(context.Background(), all[0].ID)
	if err != nil || ref != all[0].Ref || m.Body != "Free text.\n" || m.MessageID != ref.ID {
		t.Errorf("%v %v %v", ref, m, err)
	}
}

func TestNameAndContentMustAgree(t *testing.T) {
	tree := openTree(t)
	writeFile(t, tree, thread+"BLOCKED__FSX@PMO__x.yaml", good(t))
	writeFile(t, tree, thread+"notes.yaml", good(t))
	writeFile(t, tree, thread+"README.md", "not a message")
	all := entries(t, tree)
	if len(all) != 2 || len(all[0].Problems) != 2 || all[0].Problems[0].Field != "status" || len(all[1].Problems) != 1 {
		t.Errorf("%+v", all)
	}
}

func TestTwoFilesWithOneID(t *testing.T) {
	tree := openTree(t)
	text := good(t) + "message_id: TWICE\n"
	writeFile(t, tree, thread+"TODO__LD@PMO__a.yaml", text)
	writeFile(t, tree, thread+"TODO__LD@PMO__b.yaml", text)
	for range 2 { // the second time out of the cache
		all := entries(t, tree)
		if len(all) != 2 || all[0].Problems != nil || len(all[1].Problems) != 1 {
			t.Errorf("%+v", all)
		}
	}
}

// A copy under another name, or one that was edited into nonsense, neither
// spoils its original nor is read in its place.
func TestStrayCopyDoesNotSpoilItsOriginal(t *testing.T) {
	tree := openTree(t)
	original := thread + "TODO__LD@PMO__x.yaml"
	writeFile(t, tree, thread+"- copy of x.yaml", strings.Replace(good(t), "Free", "Foul", 1)+"message_id: ONE\n")
	writeFile(t, tree, original, good(t)+"message_id: ONE\n")
	for _, e := range entries(t, tree) {
		if (e.Path == original) != (e.Problems == nil) {
			t.Errorf("%+v", e)
		}
	}
	ref, m, err := tree.Find(context.Background(), "ONE")
	if err != nil || ref.Path != original || m.Body != "Free text.\n" {
		t.Errorf("%v %q %v", ref, m.Body, err)
	}
}

// Everything that can stand in a folder besides a message: reported by an
// escaped name, never followed, never waited for.
func TestHostileTree(t *testing.T) {
	tree := openTree(t)
	dir := filepath.Join(tree.Dir(), thread) + "/"
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	mustSucceed(t, os.WriteFile(secret, []byte(good(t)), 0o600))
	writeFile(t, tree, thread+"TODO__LD@PMO__good.yaml", good(t))

	mustSucceed(t, os.Symlink(secret, dir+"TODO__LD@PMO__link.yaml"))
	mustSucceed(t, os.Symlink("TODO__LD@PMO__good.yaml", dir+"TODO__LD@PMO__inner-link.yaml"))
	mustSucceed(t, os.Link(secret, dir+"TODO__LD@PMO__hard.yaml"))
	mustSucceed(t, mkfifo(dir+"TODO__LD@PMO__fifo.yaml"))
	mustSucceed(t, os.Mkdir(dir+"TODO__LD@PMO__folder.yaml", 0o700))
	mustSucceed(t, os.Symlink(filepath.Dir(secret), dir+"Attachments"))
	mustSucceed(t, os.WriteFile(dir+"TODO__LD@PMO__huge.yaml", nil, 0o600))
	mustSucceed(t, os.Truncate(dir+"TODO__LD@PMO__huge.yaml", 10<<30))
	writeFile(t, tree, thread+"-rf \x1b[31m\n\u202e.yaml", good(t))
	writeFile(t, tree, thread+"TODO__LD@PMO__\xff.yaml", good(t))
	writeFile(t, tree, thread+"TODO__LD@PMO__bad.yaml", "tid: [")
	writeFile(t, tree, "msg/stray.yaml", good(t))
	writeFile(t, tree, "msg/ a thread\nby hand/TODO__LD@PMO__x.yaml", good(t))
	mustSucceed(t, os.Symlink(filepath.Dir(secret), filepath.Join(tree.Dir(), "msg/20260601T182005Z—evil")))
	mustSucceed(t, mkfifo(filepath.Join(tree.Dir(), "msg/20260601T182005Z—fifo")))

	start := time.Now()
	fine, bad := 0, map[string]string{}
	for _, e := range entries(t, tree) {
		if e.Problems == nil {
			fine++
			continue
		}
		text := fmt.Sprint(e.Problems)
		bad[path.Base(e.Path)] = text
		if v := plaintext.CheckLine(text); v != nil {
			t.Errorf("problems of %q hold %v", e.Path, v)
		}
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	for name, want := range map[string]string{
		"TODO__LD@PMO__link.yaml": "symbolic link", "TODO__LD@PMO__inner-link.yaml": "symbolic link",
		"TODO__LD@PMO__hard.yaml": "2 hard links", "TODO__LD@PMO__fifo.yaml": "FIFO", "TODO__LD@PMO__folder.yaml": "folder",
		"TODO__LD@PMO__huge.yaml": "larger than", "-rf \x1b[31m\n\u202e.yaml": `\x1b`, "TODO__LD@PMO__bad.yaml": "line",
		"Attachments": "symbolic link", "TODO__LD@PMO__\xff.yaml": `\xff`, "TODO__LD@PMO__x.yaml": `a thread\nby hand`, "stray.yaml": "not a directory", "20260601T182005Z—evil": "open folder", "20260601T182005Z—fifo": "not a directory",
	} {
		if !strings.Contains(bad[name], want) {
			t.Errorf("%q: %q does not say %q", name, bad[name], want)
		}
		delete(bad, name)
	}
	if fine != 1 || len(bad) != 0 {
		t.Errorf("%d fine; also bad: %v", fine, bad)
	}
	if _, err := tree.Index(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestPathsStayInTheTree(t *testing.T) {
	tree := openTree(t)
	for _, name := range []string{"../x", "/etc/passwd", "msg/../../x", "", ".", "msg"} {
		if _, err := tree.Read(name); err == nil || errkind.Of(err) == errkind.Internal {
			t.Errorf("Read(%q): %v", name, err)
		}
	}
}

// A link in the place of a folder leads nothing out of the tree.
func TestPublishFollowsNoLinks(t *testing.T) {
	for _, at := range []string{"msg", "msg/20260601T182005Z—x", "msg/20260601T182005Z—x/Attachments", ".outbox"} {
		tree, outside := openTree(t), t.TempDir()
		mustSucceed(t, os.MkdirAll(filepath.Dir(filepath.Join(tree.Dir(), at)), 0o700))
		mustSucceed(t, os.Symlink(outside, filepath.Join(tree.Dir(), at)))
		d := draft("x", "b\n")
		d.AttachFiles = []string{filepath.Join(t.TempDir(), "a")}
		mustSucceed(t, os.WriteFile(d.AttachFiles[0], []byte("a"), 0o600))
		err := push(context.Background(), tree, Intent{Draft: d, Envelope: []byte(`{}`)})
		if errkind.Of(err) != errkind.Refused {
			t.Errorf("%s: %v", at, err)
		}
		if left, _ := os.ReadDir(outside); len(left) != 0 {
			t.Errorf("%s: %v was written outside", at, left)
		}
	}
}

func TestGeneralYAMLIsNeverTouched(t *testing.T) {
	tree := openTree(t)
	const text = "version: 1\n# ours: not yours\r\n\u0085: [&a *a\n"
	places := []string{"general.yaml", "msg/general.yaml", thread + "general.yaml"}
	for _, name := range places {
		writeFile(t, tree, name, text)
	}
	ref := publish(t, tree, draft("general", "b\n"))
	mustSucceed(t, push(context.Background(), tree, Intent{Draft: draft("x", "b\n"), Envelope: []byte(`{}`)}))
	_, _, err := tree.Find(context.Background(), ref.ID)
	mustSucceed(t, err)
	_, err = tree.Index(context.Background())
	mustSucceed(t, err)
	for _, e := range entries(t, tree) {
		if e.Problems != nil {
			t.Errorf("%+v", e)
		}
	}
	for _, name := range places {
		if got, err := os.ReadFile(filepath.Join(tree.Dir(), name)); err != nil || string(got) != text {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

func TestIndexIsReadableAndHarmless(t *testing.T) {
	tree := openTree(t)
	publish(t, tree, draft("a | b <script> `x` [l](u)", "b\n"))
	writeFile(t, tree, thread+"-rf \x1b[31m\n.yaml", good(t))
	name, err := tree.Index(context.Background())
	mustSucceed(t, err)
	page, err := os.ReadFile(filepath.Join(tree.Dir(), name))
	mustSucceed(t, err)
	if v := plaintext.Check(string(page)); v != nil {
		t.Errorf("index holds %v", v)
	}
	for _, want := range []string{`a \| b &lt;script> \`, "| TODO | LD | PMO |", "| INVALID |", "## 20260601T182005Z—a-b-script-x-l-u"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, page)
		}
	}
}

func TestThreadsNewestFirst(t *testing.T) {
	tree := openTree(t)
	publish(t, tree, draft("old", "b\n"))
	d := draft("new", "b\n")
	d.At = noon.Add(time.Hour)
	publish(t, tree, d)
	d.Message.Type, d.Thread = TypeResult, "old"
	publish(t, tree, d)
	threads, err := tree.Threads(context.Background())
	mustSucceed(t, err)
	if len(threads) != 2 || threads[0].Topic != "new" || threads[1].State != "RESULT" || len(threads[1].Messages) != 2 {
		t.Errorf("%+v", threads)
	}
}

// A pull is a fresh process: it must find one of thousands without a cache.
func TestFindAmongThousands(t *testing.T) {
	tree := openTree(t)
	m := sampleMessage()
	n := size(300, 5000)
	for i := range n {
		m.MessageID = ID(fmt.Sprintf("M%05d", i))
		data, err := Encode(m)
		mustSucceed(t, err)
		writeFile(t, tree, fmt.Sprintf("msg/20260601T18%02d00Z—x/TODO__LD@PMO__m-%d.yaml", i%50, i), string(data))
	}
	start := time.Now()
	ref, _, err := tree.Find(context.Background(), "M00000") // the oldest thread
	if err != nil || ref.ID != "M00000" {
		t.Errorf("%v %v", ref, err)
	}
	cold := time.Since(start)
	first := entries(t, tree)
	start = time.Now()
	second := entries(t, tree)
	t.Logf("%d files: find %v, second scan %v", n, cold, time.Since(start))
	if len(first) != n || len(second) != n {
		t.Errorf("%d, %d entries", len(first), len(second))
	}
	if _, _, err := tree.Find(context.Background(), "absent"); errkind.Of(err) != errkind.NotFound {
		t.Error(err)
	}
}

// The cache notices an edit by hand: by time when the size is the same, by size
// when the clock stood still.
func TestChangedFileIsReadAgain(t *testing.T) {
	tree := openTree(t)
	name := thread + "TODO__LD@PMO__x.yaml"
	full := filepath.Join(tree.Dir(), name)
	for i, text := range []string{good(t), strings.Replace(good(t), "clear", "other", 1), strings.Replace(good(t), "clear", "a longer", 1)} {
		writeFile(t, tree, name, text)
		at := noon.Add(time.Duration(min(i, 1)) * time.Second) // the third has the second's time
		mustSucceed(t, os.Chtimes(full, at, at))
		want := []string{"clear title", "other title", "a longer title"}[i]
		if got := entries(t, tree)[0].Message.Subject; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	mustSucceed(t, os.Remove(full))
	if all := entries(t, tree); len(all) != 0 || len(tree.cache) != 0 {
		t.Errorf("%v, %d cached", all, len(tree.cache))
	}
}
