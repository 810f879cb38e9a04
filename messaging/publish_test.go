package messaging

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/errkind"
)

var noon = time.Date(2026, 6, 1, 18, 20, 5, 0, time.UTC)

func openTree(t *testing.T) *Tree {
	t.Helper()
	tree, err := Open(filepath.Join(t.TempDir(), "messaging"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

func draft(subject, body string) Draft {
	return Draft{Message: Message{From: "LD", To: "PMO", Subject: subject, Body: body}, At: noon}
}

func publish(t *testing.T, tree *Tree, d Draft) Ref {
	t.Helper()
	ref, err := tree.Publish(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestPublishMakesTheTreeOfARKA3(t *testing.T) {
	tree := openTree(t)
	ref := publish(t, tree, draft("Réunion à l'Œuvre !", "text\n"))
	if want := "msg/20260601T182005Z—reunion-a-l-oeuvre/TODO__LD@PMO__reunion-a-l-oeuvre.yaml"; ref.Path != want {
		t.Errorf("path is %q", ref.Path)
	}
	info, err := os.Stat(filepath.Join(tree.Dir(), ref.Path))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	m, err := tree.Read(ref.Path)
	if err != nil || m.Body != "text\n" || m.MessageID != ref.ID || !ValidTID(string(m.TID)) {
		t.Errorf("%+v %v", m, err)
	}
}

func TestSameNameGetsTheNextFreeSlug(t *testing.T) {
	tree := openTree(t)
	var names []string
	for range 3 {
		names = append(names, filepath.Base(publish(t, tree, draft("x", "same\n")).Path))
	}
	if got := strings.Join(names, " "); got != "TODO__LD@PMO__x.yaml TODO__LD@PMO__x-2.yaml TODO__LD@PMO__x-3.yaml" {
		t.Error(got)
	}
}

func TestPublishIsIdempotentByMessageID(t *testing.T) {
	tree := openTree(t)
	d := draft("x", "text\n")
	d.Message.MessageID = "A1"
	first, again := publish(t, tree, d), publish(t, tree, d)
	if first != again {
		t.Errorf("%v, then %v", first, again)
	}
	d.Message.Body = "other\n"
	if _, err := tree.Publish(context.Background(), d); errkind.Of(err) != errkind.Conflict {
		t.Errorf("another text under the id: %v", err)
	}
}

func TestAnswerGoesIntoTheThread(t *testing.T) {
	tree := openTree(t)
	question := publish(t, tree, draft("question", "?\n"))
	d := draft("answer", "!\n")
	d.At = noon.Add(time.Hour)
	d.Message.RelatesTo = question.ID
	answer := publish(t, tree, d)
	a, _ := tree.Read(question.Path)
	b, _ := tree.Read(answer.Path)
	if answer.Thread != question.Thread || a.TID != b.TID {
		t.Errorf("%v %v, %v %v", question, a.TID, answer, b.TID)
	}
	d.Message.RelatesTo = "unknown"
	if _, err := tree.Publish(context.Background(), d); errkind.Of(err) != errkind.NotFound || errkind.Hint(err) == "" {
		t.Errorf("relates to nothing: %v", err)
	}
}

func TestThreadByTopic(t *testing.T) {
	tree := openTree(t)
	first := publish(t, tree, draft("big plan", "a\n"))
	for thread, want := range map[string]string{
		"big-plan": first.Thread, "Big Plan": first.Thread, first.Thread: first.Thread,
		"other": "20260601T182005Z—other", "../../x": "20260601T182005Z—x", ".outbox": "20260601T182005Z—outbox",
		"20200101T000000Z—new": "20200101T000000Z—new",
	} {
		d := draft("m", "b\n")
		d.Thread = thread
		if got := publish(t, tree, d).Thread; got != want {
			t.Errorf("--thread %q: %q, want %q", thread, got, want)
		}
	}
}

func TestAttachmentsAreCopied(t *testing.T) {
	tree, dir := openTree(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d := draft("x", "text\n")
	d.AttachFiles = []string{write("Résumé final.TXT", "one"), write("other/Résumé final.TXT", "two"), write("-rf\n$(x)", "three"), write(".hidden", "four")}
	ref := publish(t, tree, d)
	m, err := tree.Read(ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"./Attachments/Resume-final.TXT", "./Attachments/Resume-final-2.TXT", "./Attachments/rf-x", "./Attachments/file.hidden"}
	if strings.Join(m.Attachments, " ") != strings.Join(want, " ") {
		t.Errorf("links are %q", m.Attachments)
	}
	for i, text := range []string{"one", "two", "three", "four"} {
		got, err := os.ReadFile(filepath.Join(tree.Dir(), msgDir, ref.Thread, m.Attachments[i]))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q %v", m.Attachments[i], got, err)
		}
	}
	next := publish(t, tree, d) // the same files again: nothing is copied twice
	if again, _ := tree.Read(next.Path); strings.Join(again.Attachments, " ") != strings.Join(want, " ") {
		t.Errorf("second time: %q", again.Attachments)
	}
}

func TestAllBadAttachmentsAreListedAndNothingIsWritten(t *testing.T) {
	tree, dir := openTree(t), t.TempDir()
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, MaxAttachmentBytes+1); err != nil {
		t.Fatal(err)
	}
	link, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	mustSucceed(t, os.Symlink("/etc/passwd", link))
	mustSucceed(t, mkfifo(fifo))
	d := draft("", "text\n")
	d.AttachFiles = []string{big, link, fifo, dir, filepath.Join(dir, "absent")}
	_, err := tree.Publish(context.Background(), d)
	if p := errkind.Problems(err); len(p) != 6 || p[0].Field != "sujet" || p[5].Field != "attach[4]" {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(tree.Dir()); len(entries) != 0 {
		t.Errorf("something was written: %v", entries)
	}
}

func TestSlugs(t *testing.T) {
	for in, want := range map[string]string{
		"": "message", "???": "message", "日本語": "message", "Straße — Ça va?": "strasse-ca-va", "--a__b--": "a-b",
		"..": "message", strings.Repeat("ab ", 100): strings.TrimSuffix(strings.Repeat("ab-", 20), "-"), "ﬁn ①": "fin-1",
	} {
		if got := slug(in); got != want {
			t.Errorf("slug(%.20q) = %q, want %q", in, got, want)
		}
	}
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
