package doctor

import "syscall"

// bound ties a child to us: a process group of its own, and its end with ours,
// also after SIGKILL.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
