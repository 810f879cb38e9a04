package messaging

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"arkamsg/internal/durable"
	"arkamsg/internal/errkind"
)

// MaxAttachmentBytes is the largest file that is copied into a thread; larger
// ones are outputs and are only pointed at.
const MaxAttachmentBytes = 64 << 20

// sources are files to attach, opened before anything is written.
type sources []*os.File

func (s sources) close() {
	for _, f := range s {
		f.Close()
	}
}

// openSources opens all files and lists all that cannot be attached.
func openSources(files []string) (sources, []errkind.Problem) {
	var opened sources
	var problems []errkind.Problem
	for i, name := range files {
		f, err := openSource(name)
		if err != nil {
			problems = append(problems, errkind.Problem{Field: fmt.Sprintf("attach[%d]", i), Message: err.Error()})
			continue
		}
		opened = append(opened, f)
	}
	return opened, problems
}

// openSource does not follow a link in the last element and waits for no FIFO:
// what is attached is what was named.
func openSource(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%q is a symbolic link; name the file itself", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, errors.Unwrap(err))
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%q is not a regular file", name)
	case info.Size() > MaxAttachmentBytes:
		err = fmt.Errorf("%q is larger than %d MiB; use --output to point at it", name, MaxAttachmentBytes>>20)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// attach copies the sources into the thread's folder and returns their links.
func (t *Tree) attach(thread string, from sources) ([]string, error) {
	if len(from) == 0 {
		return nil, nil
	}
	dir := path.Join(msgDir, thread, attachmentsDir)
	if err := durable.MkdirAll(t.root, dir, folderPerm); err != nil {
		return nil, err
	}
	links := make([]string, len(from))
	for i, f := range from {
		name, err := t.copyIn(dir, f)
		if err != nil {
			return nil, err
		}
		links[i] = "./" + attachmentsDir + "/" + name
	}
	return links, nil
}

// copyIn copies a file under the first free of its names. A copy that is there
// already, left by a push that died, is used again.
func (t *Tree) copyIn(dir string, f *os.File) (string, error) {
	for n := 1; ; n++ {
		name := attachmentName(f.Name(), n)
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		full := path.Join(dir, name)
		err := durable.CopyNew(t.root, full, &capped{f, MaxAttachmentBytes}, filePerm)
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		if t.sameBytes(full, f) {
			return name, nil
		}
	}
}

func (t *Tree) sameBytes(name string, f *os.File) bool {
	there, err := durable.Open(t.root, name)
	if err != nil {
		return false
	}
	defer there.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false
	}
	a, errA := digest(there)
	b, errB := digest(f)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func digest(r io.Reader) ([]byte, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.LimitReader(r, MaxAttachmentBytes+1))
	return h.Sum(nil), err
}

// capped fails a copy that grew beyond the limit after it was looked at.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, errkind.New(errkind.Invalid, "an attachment grew beyond %d MiB", MaxAttachmentBytes>>20)
	}
	return n, err
}

// attachmentName is the file's own name, reduced to letters, digits and ._- so
// that it is a name everywhere; the n-th gets -n before its extension.
func attachmentName(file string, n int) string {
	ext := ascii(filepath.Ext(file), "_", 16)
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	stem = ascii(stem, "._", 80)
	if stem == "" {
		stem = "file"
	}
	if n > 1 {
		stem = fmt.Sprintf("%s-%d", stem, n)
	}
	if ext != "" {
		ext = "." + ext
	}
	return stem + ext
}
