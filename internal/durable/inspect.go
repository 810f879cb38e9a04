package durable

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"arkamsg/internal/errkind"
)

// abandonedAfter is how old a temporary file must be before Sweep looks at its
// lock: between its creation and its locking lies an instant.
const abandonedAfter = time.Minute

// inspect asks the open file what it is and refuses all but a regular file with
// one link. Our own temporary name does not count (see the package comment).
func (d *folder) inspect(f *os.File, base string) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return err
	}
	if kind := kindName(&stat); kind != "" {
		return errkind.New(errkind.Refused, "%q is a %s, not a regular file", base, kind)
	}
	if stat.Nlink == 2 {
		if d.hasTempFor(&stat) {
			return nil
		}
		// Its writer may have removed the temporary name before we looked for it.
		if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
			return err
		}
	}
	if stat.Nlink > 1 {
		return errkind.New(errkind.Refused, "%q has %d hard links", base, stat.Nlink)
	}
	return nil
}

// kindName names what is not a regular file.
func kindName(stat *unix.Stat_t) string {
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return ""
	case unix.S_IFDIR:
		return "folder"
	case unix.S_IFIFO:
		return "FIFO"
	case unix.S_IFSOCK:
		return "socket"
	}
	return "device"
}

// hasTempFor looks for the temporary name that a writer, living or dead, has
// not yet removed. It is rare, so a listing of the folder is affordable.
func (d *folder) hasTempFor(file *unix.Stat_t) bool {
	for _, name := range d.temps() {
		if other, err := d.lstat(name); err == nil && sameFile(file, other) {
			return true
		}
	}
	return false
}

// temps lists the temporary names in the folder.
func (d *folder) temps() []string {
	f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY) // an offset of its own
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	found := names[:0]
	for _, name := range names {
		if IsTemp(name) {
			found = append(found, name)
		}
	}
	return found
}

func (d *folder) lstat(base string) (*unix.Stat_t, error) {
	var stat unix.Stat_t
	err := d.do(func(fd int) error { return unix.Fstatat(fd, base, &stat, unix.AT_SYMLINK_NOFOLLOW) })
	return &stat, err
}

func sameFile(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// IsTemp tells whether an entry of a folder is a temporary file of ours, which
// readers of the folder pass over.
func IsTemp(base string) bool { return strings.HasPrefix(base, tempPrefix) }

// Sweep removes the temporary files that dead writers left in a folder and
// returns how many. Those younger than a minute are left for the next time.
func Sweep(root *os.Root, name string) (int, error) {
	d, err := openFolder(root, name)
	if err != nil {
		return 0, err
	}
	defer d.close()
	swept := 0
	for _, temp := range d.temps() {
		if d.abandoned(temp) && d.unlink(temp) == nil {
			swept++
		}
	}
	return swept, nil
}

func (d *folder) abandoned(temp string) bool {
	stat, err := d.lstat(temp)
	if err != nil || kindName(stat) != "" || time.Since(time.Unix(stat.Mtim.Unix())) < abandonedAfter {
		return false
	}
	f, err := d.open(temp, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	free, err := tryLock(f)
	return err == nil && free
}
