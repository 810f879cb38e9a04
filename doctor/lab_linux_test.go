package doctor

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// A daemon that is stopped cannot notice that its lock file went away with the
// lab; only the kernel can end it with its parent.
func TestAKilledDoctorTakesAStoppedDaemonAlong(t *testing.T) {
	tmp := scratch(t)
	cmd := doctor(t, tmp, "--lab", "--json")
	progress, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	await(t, progress, "lab")
	must(t, syscall.Kill(labDaemon(t, tmp), syscall.SIGSTOP))
	must(t, cmd.Process.Kill())
	_, _ = io.Copy(io.Discard, progress)
	_ = cmd.Wait()
	nothingLeft(t, tmp)
}

// labDaemon finds the daemon of the lab in the folder.
func labDaemon(t *testing.T, tmp string) int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(line, []byte(tmp)) || !bytes.HasSuffix(line, []byte("\x00daemon\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		must(t, err)
		return pid
	}
	t.Fatal("no daemon runs in the lab")
	return 0
}
