package doctor

import "golang.org/x/sys/unix"

// networks are the file systems on which flock and shared memory do not reach
// other machines, by their magic number.
var networks = map[int64]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.SMB2_SUPER_MAGIC: "smb2",
	unix.CIFS_SUPER_MAGIC: "cifs", unix.AFS_SUPER_MAGIC: "afs", unix.CEPH_SUPER_MAGIC: "ceph",
}

// networked reports whether the folder lies on another machine's disk.
func networked(dir string) (kind string, yes bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", false
	}
	kind, yes = networks[int64(st.Type)] //nolint:unconvert // its width differs by architecture
	return kind, yes
}
