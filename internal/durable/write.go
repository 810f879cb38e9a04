package durable

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"arkamsg/internal/crash"
)

const tempPrefix = ".tmp-"

// WriteNew publishes data under a name that must not exist yet. If it does, the
// error is a Conflict that is fs.ErrExist and nothing was changed.
func WriteNew(root *os.Root, name string, data []byte, perm os.FileMode) error {
	return CopyNew(root, name, bytes.NewReader(data), perm)
}

// CopyNew is WriteNew for content that is read while it is written. An error of
// the reader publishes nothing and is returned as it is.
func CopyNew(root *os.Root, name string, content io.Reader, perm os.FileMode) error {
	f, err := create(root, name, content, perm)
	if err != nil {
		return err
	}
	return f.Close()
}

// CreateHeld is WriteNew whose file comes into being already locked (flock,
// exclusive): whoever finds it can tell by [TryHold] that its writer lives.
// Closing the file lets go.
func CreateHeld(root *os.Root, name string, data []byte, perm os.FileMode) (*os.File, error) {
	return create(root, name, bytes.NewReader(data), perm)
}

func create(root *os.Root, name string, content io.Reader, perm os.FileMode) (*os.File, error) {
	d, base, err := parentOf(root, name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	f, temp, err := d.temp(content, perm)
	if err != nil {
		return nil, failed("write", name, err)
	}
	if err := d.publish(temp, base, name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// publish gives a temporary file its name. After the link the outcome can only
// be success or unknown.
func (d *folder) publish(temp, base, name string) error {
	if err := d.link(temp, base); err != nil {
		_ = d.unlink(temp)
		return failed("create", name, err)
	}
	crash.At("durable:after-link")
	if err := d.unlink(temp); err != nil {
		return unknown("create", name, err)
	}
	crash.At("durable:before-dirsync")
	if err := d.sync(); err != nil {
		return unknown("create", name, err)
	}
	return nil
}

// Replace gives a name a whole new content; the name need not exist.
func Replace(root *os.Root, name string, data []byte, perm os.FileMode) error {
	d, base, err := parentOf(root, name)
	if err != nil {
		return err
	}
	defer d.close()
	f, temp, err := d.temp(bytes.NewReader(data), perm)
	if err != nil {
		return failed("write", name, err)
	}
	defer f.Close()
	if err := d.rename(temp, base); err != nil {
		_ = d.unlink(temp)
		return failed("replace", name, err)
	}
	crash.At("durable:after-rename")
	if err := d.sync(); err != nil {
		return unknown("replace", name, err)
	}
	return nil
}

// temp writes a synced temporary file and returns it open and locked.
func (d *folder) temp(content io.Reader, perm os.FileMode) (*os.File, string, error) {
	name := tempName()
	f, err := d.open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return nil, "", err
	}
	if err := fill(f, content, perm); err != nil {
		f.Close()
		_ = d.unlink(name)
		return nil, "", err
	}
	crash.At("durable:after-temp")
	return f, name, nil
}

func fill(f *os.File, content io.Reader, perm os.FileMode) error {
	if err := lock(f); err != nil {
		return err
	}
	if err := f.Chmod(perm.Perm()); err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	return f.Sync()
}

func tempName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return tempPrefix + hex.EncodeToString(b[:])
}

// MkdirAll creates a folder and those above it, each one synced into its
// parent. Folders that exist keep their mode; a link on the way is refused.
func MkdirAll(root *os.Root, name string, perm os.FileMode) error {
	d, err := openFolder(root, ".")
	if err != nil {
		return err
	}
	defer func() { d.close() }()
	for _, element := range elements(name) {
		next, err := d.enter(element, perm)
		if err != nil {
			return failed("create folder", name, err)
		}
		d.close()
		d = next
	}
	return nil
}

// enter opens a subfolder, making it first if it is not there.
func (d *folder) enter(base string, perm os.FileMode) (*folder, error) {
	err := d.mkdir(base, perm)
	if err == nil {
		err = d.sync()
	} else if err == unix.EEXIST {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	f, err := d.open(base, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &folder{f, base}, nil
}

// SyncDir makes the names in a folder durable.
func SyncDir(root *os.Root, name string) error {
	d, err := openFolder(root, name)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.sync(); err != nil {
		return unknown("sync folder", name, err)
	}
	return nil
}

// Remove unlinks a file and makes that durable. A file that is not there is no
// error.
func Remove(root *os.Root, name string) error {
	d, base, err := parentOf(root, name)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.unlink(base); err == unix.ENOENT {
		return nil
	} else if err != nil {
		return failed("remove", name, err)
	}
	return d.sync()
}
