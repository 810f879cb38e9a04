//go:build !linux

package demo

import "syscall"

// dieWithParent keeps the terminal's Ctrl-C from the daemon: the demo stops it
// in order. Only Linux can end it when the demo itself is killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
