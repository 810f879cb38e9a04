package durable

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"arkamsg/internal/crash"
	"arkamsg/internal/errkind"
)

// AppendLine adds one line (a final LF is added when missing) to a file, which
// is created if needed. Writers of all processes take turns. A last line
// without LF, left by a crash, is cut before; a line that cannot be written
// whole is taken back.
func AppendLine(root *os.Root, name string, line []byte, perm os.FileMode) error {
	line = append(bytes.TrimSuffix(line, []byte{'\n'}), '\n')
	if bytes.IndexByte(line, '\n') != len(line)-1 {
		return errkind.New(errkind.Invalid, "append to %q: more than one line", name)
	}
	d, base, err := parentOf(root, name)
	if err != nil {
		return err
	}
	defer d.close()
	f, err := d.openForAppend(base, perm)
	if err != nil {
		return failed("append to", name, err)
	}
	defer f.Close()
	if err := appendLocked(f, line); err != nil {
		return failed("append to", name, err)
	}
	return nil
}

// openForAppend opens or creates the file; only the creator sets the mode and
// syncs the folder.
func (d *folder) openForAppend(base string, perm os.FileMode) (*os.File, error) {
	f, err := d.open(base, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_EXCL)
	switch {
	case err == nil:
		err = errors.Join(f.Chmod(perm.Perm()), d.sync())
	case err == unix.EEXIST:
		if f, err = d.open(base, unix.O_RDWR|unix.O_APPEND); err == nil {
			err = d.inspect(f, base)
		}
	}
	if err != nil && f != nil {
		f.Close()
	}
	return f, err
}

func appendLocked(f *os.File, line []byte) error {
	if err := lock(f); err != nil {
		return err
	}
	end, err := cutTornLine(f)
	if err != nil {
		return err
	}
	crash.At("durable:before-append")
	if _, err := f.Write(line); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	crash.At("durable:after-append")
	return f.Sync()
}

// cutTornLine truncates the file to its last LF and returns the size.
func cutTornLine(f *os.File) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	end, err := lastBreak(f, size)
	if err != nil || end == size {
		return end, err
	}
	return end, f.Truncate(end)
}

// lastBreak returns the offset after the last LF before size.
func lastBreak(f *os.File, size int64) (int64, error) {
	buf := make([]byte, 4096)
	for size > 0 {
		from := max(0, size-int64(len(buf)))
		part := buf[:size-from]
		if _, err := f.ReadAt(part, from); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		size = from
	}
	return 0, nil
}
