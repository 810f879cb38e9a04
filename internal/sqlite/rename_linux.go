package sqlite

import "golang.org/x/sys/unix"

// renameNew gives a file its name unless the name is taken (EEXIST).
func renameNew(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}
