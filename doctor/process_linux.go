package doctor

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// bound ties a child to us: a process group of its own, and its end with ours,
// also after SIGKILL.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// lives reports whether the process still does anything. One that has ended and
// that nobody waited for (containers without an init) does not.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, state, _ := bytes.Cut(stat, []byte(") ")) // what stands before is the name
	return !bytes.HasPrefix(state, []byte("Z"))
}
