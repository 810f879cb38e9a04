package durable

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"arkamsg/internal/errkind"
)

// folder is an open directory. All work on its entries is relative to the
// descriptor, so a folder swapped under us is still the one we looked at.
type folder struct {
	file *os.File
	name string // relative to the root, for messages
}

// openFolder walks to a folder one element at a time and follows no link.
// os.Root alone would follow links that stay inside the root.
func openFolder(root *os.Root, name string) (*folder, error) {
	if !filepath.IsLocal(name) {
		return nil, errkind.New(errkind.Refused, "%q leaves the folder", name)
	}
	f, err := root.Open(".")
	if err != nil {
		return nil, failed("open", name, err)
	}
	for _, element := range elements(name) {
		next, err := openat(f, element, unix.O_RDONLY|unix.O_DIRECTORY)
		f.Close()
		if err != nil {
			return nil, failed("open folder", name, err)
		}
		f = next
	}
	return &folder{f, name}, nil
}

// parentOf opens the folder that holds name and returns name's last element.
func parentOf(root *os.Root, name string) (*folder, string, error) {
	if !filepath.IsLocal(name) || path.Clean(name) == "." {
		return nil, "", errkind.New(errkind.Refused, "%q is not a name inside the folder", name)
	}
	dir, base := path.Split(path.Clean(name))
	d, err := openFolder(root, path.Clean(dir))
	return d, base, err
}

func elements(name string) []string {
	name = path.Clean(name)
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

func (d *folder) close() { d.file.Close() }

func (d *folder) open(base string, flags int) (*os.File, error) {
	return openat(d.file, base, flags)
}

func (d *folder) link(from, to string) error {
	return d.do(func(fd int) error { return unix.Linkat(fd, from, fd, to, 0) })
}

func (d *folder) rename(from, to string) error {
	return d.do(func(fd int) error { return unix.Renameat(fd, from, fd, to) })
}

func (d *folder) unlink(base string) error {
	return d.do(func(fd int) error { return unix.Unlinkat(fd, base, 0) })
}

func (d *folder) mkdir(base string, perm os.FileMode) error {
	return d.do(func(fd int) error { return unix.Mkdirat(fd, base, uint32(perm.Perm())) })
}

func (d *folder) sync() error { return d.file.Sync() }

// do runs one system call on the folder's descriptor.
func (d *folder) do(call func(fd int) error) error {
	return retryEINTR(func() error { return call(int(d.file.Fd())) })
}

// openat opens an entry: never through a link, never waiting for a peer.
func openat(dir *os.File, base string, flags int) (*os.File, error) {
	const always = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	var fd int
	err := retryEINTR(func() (err error) {
		fd, err = unix.Openat(int(dir.Fd()), base, flags|always, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), base), nil
}

func retryEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
