package demo_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The demo is run as a newcomer runs it: the program itself, in a terminal's
// place. It must tell its whole story and leave nothing behind.
func TestTheStoryIsToldAndNothingIsLeft(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "arkamsg")
	if out, err := exec.Command("go", "build", "-o", bin, "arkamsg/cmd/arkamsg").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tmp := t.TempDir()
	cmd := exec.Command(bin, "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "LANG=C.UTF-8")
	var story bytes.Buffer
	cmd.Stdout, cmd.Stderr = &story, &story
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &story)
	}
	rest := story.String()
	for _, scene := range []string{
		"$ arkamsg init", "ready",
		"$ arkamsg push --from LD --to PMO", "Message reçu de @LD : ptr:msg:plan-1", `""`,
		"$ arkamsg pull plan-1", "type: RESULT",
		"missing_session", "session ARCH non active — message non livré. Escalade : PMO.", "[Escalade] @PMO",
		"running", "nothing is waiting", "To use it for real:",
	} {
		_, after, found := strings.Cut(rest, scene)
		if !found {
			t.Fatalf("%q does not come where it should:\n%s", scene, &story)
		}
		rest = after
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
