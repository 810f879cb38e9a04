package config

import (
	"os"
	"testing"

	"arkamsg/internal/errkind"
)

func TestOursIsTheUsersAndRoots(t *testing.T) {
	me := uint32(os.Geteuid())
	if !ours(me) || !ours(0) || ours(me+1) {
		t.Errorf("ours(me, root, other) = %v, %v, %v", ours(me), ours(0), ours(me+1))
	}
}

// Giving a file away takes root; without it, the rule above is all there is to
// see.
func TestLoadRefusesSomebodyElsesFile(t *testing.T) {
	home := Home(t.TempDir())
	if err := os.WriteFile(home.Config(), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := os.Chown(home.Config(), os.Geteuid()+1, -1)
	if os.Geteuid() != 0 {
		if err == nil {
			t.Error("the file was given away without root")
		}
		return
	}
	if _, err := Load(home); errkind.Of(err) != errkind.Refused || errkind.Hint(err) == "" {
		t.Errorf("got %v", err)
	}
}
