package doctor

import "golang.org/x/sys/unix"

// networked reports whether the folder lies on another machine's disk.
func networked(dir string) (kind string, yes bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", false
	}
	return unix.ByteSliceToString(st.Fstypename[:]), st.Flags&unix.MNT_LOCAL == 0
}
