package durable

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"arkamsg/internal/errkind"
)

// kindOf sorts what the system said into our kinds. The list is searched in
// order.
var kindOf = []struct {
	cause error
	kind  errkind.Kind
	hint  string
}{
	{fs.ErrExist, errkind.Conflict, ""},
	{fs.ErrNotExist, errkind.NotFound, ""},
	{unix.ENOSPC, errkind.NotNow, "the disk is full: free some space and repeat"},
	{unix.EDQUOT, errkind.NotNow, "the disk quota is used up: free some space and repeat"},
	{unix.EMFILE, errkind.NotNow, "too many open files: repeat"},
	{unix.ENFILE, errkind.NotNow, "too many open files: repeat"},
	{unix.EFBIG, errkind.NotNow, "the limit of file size is reached (ulimit -f)"},
	{unix.EROFS, errkind.Refused, "the file system is read-only"},
	{fs.ErrPermission, errkind.Refused, "check the owner and mode of the file and its folder"},
	{unix.ELOOP, errkind.Refused, "it is a symbolic link; links are never followed"},
	{unix.ENOTDIR, errkind.Refused, "a folder on the way is a link or a file"},
	{unix.ENXIO, errkind.Refused, "it is a FIFO or a socket"},
	{unix.ENAMETOOLONG, errkind.Invalid, "the name is too long for the file system"},
	{unix.EIO, errkind.Damaged, "the disk reports an error: look at the system log"},
}

// failed explains an error of the system about a name; errors.Is still finds
// the cause.
func failed(verb, name string, err error) error {
	var known *errkind.Error
	if errors.As(err, &known) {
		return err
	}
	var wrapped *os.PathError
	if errors.As(err, &wrapped) {
		err = wrapped.Err // its path is an element only and unquoted
	}
	for _, k := range kindOf {
		if errors.Is(err, k.cause) {
			e := errkind.New(k.kind, "%s %q", verb, name).Wrap(err)
			e.Hint = k.hint
			return e
		}
	}
	return errkind.New(errkind.Internal, "%s %q", verb, name).Wrap(err)
}

// unknown marks a failure after the point where the name already existed.
func unknown(verb, name string, err error) error {
	e := errkind.New(errkind.NotNow, "%s %q: the file is there, but may not survive a power cut", verb, name)
	return e.Wrap(err).AsUnknown().WithHint("repeat with the same id")
}
