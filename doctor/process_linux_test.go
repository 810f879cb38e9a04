package doctor

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// parentEnv makes the test binary a parent that waits to be killed.
const parentEnv = "DOCTOR_TEST_PARENT"

// beParent starts a child that would never end by itself and tells its pid.
func beParent() error {
	child := exec.Command("sleep", "600")
	child.SysProcAttr = bound()
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println(child.Process.Pid)
	return child.Wait()
}

// The daemon of a lab would notice that its lock file is gone; a push, or a
// daemon that hangs, would not. The kernel ends them with their parent.
func TestAKilledDoctorTakesItsChildrenAlong(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentEnv+"=1")
	said, err := parent.StdoutPipe()
	must(t, err)
	must(t, parent.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	must(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(line))
	must(t, err)
	if !lives(child) {
		t.Fatal("the child did not start")
	}
	must(t, parent.Process.Kill())
	_ = parent.Wait()
	eventually(t, func() bool { return !lives(child) })
}
