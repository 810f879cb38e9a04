package durable

import (
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"arkamsg/internal/errkind"
)

// ReadFile returns the content of a regular file with one link and at most max
// bytes. Links, FIFOs, sockets, devices, folders and larger files are Refused
// with the reason.
func ReadFile(root *os.Root, name string, max int64) ([]byte, error) {
	d, base, err := parentOf(root, name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	f, err := d.openChecked(base, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, name, max)
}

// Open is ReadFile for content that is streamed: the open file passed the same
// checks, apart from its size.
func Open(root *os.Root, name string) (*os.File, error) {
	d, base, err := parentOf(root, name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.openChecked(base, name)
}

func (d *folder) openChecked(base, name string) (*os.File, error) {
	f, err := d.open(base, unix.O_RDONLY)
	if err != nil {
		return nil, failed("open", name, err)
	}
	if err := d.inspect(f, base); err != nil {
		f.Close()
		return nil, failed("open", name, err)
	}
	return f, nil
}

// readBounded trusts the count of bytes, not the size that was announced: the
// file may be growing.
func readBounded(f *os.File, name string, max int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, failed("read", name, err)
	}
	if int64(len(data)) > max {
		return nil, errkind.New(errkind.Refused, "read %q: larger than %d bytes", name, max)
	}
	return data, nil
}

// Names lists the entries of a folder in order, without temporary files of
// ours. Nothing about an entry is known until it is opened.
func Names(root *os.Root, name string) ([]string, error) {
	d, err := openFolder(root, name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	names, err := d.file.Readdirnames(-1)
	if err != nil {
		return nil, failed("list", name, err)
	}
	names = slices.DeleteFunc(names, IsTemp)
	slices.Sort(names)
	return names, nil
}
