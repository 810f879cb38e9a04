package sqlite

import "golang.org/x/sys/unix"

// renameNew gives a file its name unless the name is taken (EEXIST).
func renameNew(from, to string) error {
	return unix.RenamexNp(from, to, unix.RENAME_EXCL)
}
