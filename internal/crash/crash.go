package crash

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Env is the variable that arms a label.
const Env = "ARKA_CRASH_AT"

var (
	armed, hit = parse(os.Getenv(Env))
	passed     atomic.Int64
)

// At kills the process if this label is armed and its turn has come.
func At(label string) {
	if armed == "" || label != armed || passed.Add(1) != hit {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way; do not let another step happen
}

// parse splits "label:3"; labels themselves hold a colon ("journal:commit").
func parse(v string) (label string, turn int64) {
	i := strings.LastIndexByte(v, ':')
	if i > 0 {
		if n, err := strconv.ParseInt(v[i+1:], 10, 64); err == nil && n > 0 {
			return v[:i], n
		}
	}
	return v, 1
}
