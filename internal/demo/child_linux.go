package demo

import "syscall"

// dieWithParent has the kernel end the daemon if the demo is killed, and keeps
// the terminal's Ctrl-C from it: the demo stops it in order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
