package doctor

import "syscall"

// bound gives a child a process group of its own. There is no parent-death
// signal here: after a SIGKILL of ours the lab's guard removes the home, and
// the daemon ends when it next renews its lease and finds its lock file gone.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lives reports whether the process is there.
func lives(pid int) bool { return syscall.Kill(pid, 0) == nil }
