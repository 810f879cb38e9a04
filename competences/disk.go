package competences

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"arkamsg/internal/durable"
)

// disk is the handful of operations that publish a file, so that a test can
// break each of them.
type disk interface {
	create(name string) (tempFile, error)
	link(from, to string) error
	remove(name string) error
	syncDir(name string) error
	exists(name string) (bool, error)
	read(name string) ([]byte, error)
}

type tempFile interface {
	io.WriteCloser
	Sync() error
}

// rootDisk is the real one.
type rootDisk struct{ root *os.Root }

func (d rootDisk) create(name string) (tempFile, error) {
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
}

func (d rootDisk) link(from, to string) error { return d.root.Link(from, to) }

func (d rootDisk) remove(name string) error { return d.root.Remove(name) }

func (d rootDisk) syncDir(name string) error { return durable.SyncDir(d.root, name) }

// exists counts whatever has the name: a link or a folder is a collision too.
func (d rootDisk) exists(name string) (bool, error) {
	_, err := d.root.Lstat(name)
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

func (d rootDisk) read(name string) ([]byte, error) {
	return durable.ReadFile(d.root, name, maxFile)
}
