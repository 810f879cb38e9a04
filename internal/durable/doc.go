// Package durable writes files so that a success survives a power cut, and
// reads files that anybody may have put there.
//
// Every name is relative to an [os.Root] and every folder on the way is opened
// without following links, so that no name, however hostile, leaves the root
// or passes through a planted symlink (RELIABILITY rule 11).
//
// Writing, by what may happen to the name:
//
//   - [WriteNew] and [CopyNew] create it and never overwrite: temporary file,
//     fsync, link(2), unlink of the temporary name, fsync of the folder. Of many
//     racing writers exactly one wins; the others get fs.ErrExist.
//   - [Replace] puts a whole new content in its place: temporary file, fsync,
//     rename, fsync of the folder. A reader sees the old or the new, nothing
//     between.
//   - [AppendLine] adds one line under a lock: one write, fsync. A last line torn
//     by a crash is cut first, so that a file never holds half a line for long.
//
// A crash leaves at most a temporary file, named ".tmp-" and some digits. The
// living writer holds a flock on it, so an abandoned one can be told and is
// removed by [Sweep]. A crash between link and unlink leaves the new file with
// two names; [ReadFile] knows its own temporary name and does not take it for a
// hard link.
//
// An error before the link or the rename means that nothing happened. An error
// after it (the fsync of the folder failed) is marked Unknown: the file may be
// there, and the only safe repetition is one that tolerates it.
//
// [ReadFile] opens without following and without blocking, then asks the open
// file what it is: regular, one link, not larger than allowed. Anything else is
// refused by name, so that a FIFO hangs nobody and a hard link shows nothing.
package durable
