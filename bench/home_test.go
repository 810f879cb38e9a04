package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arkamsg/internal/config"
	"arkamsg/messaging"
	"arkamsg/notifyd"
)

// session is the name that ARKA §10 composes.
func session(role string) string { return "arka-bench-" + role + "-codex" }

// newHome writes the arka.yaml of a home that may type to the roles on the tmux
// server behind the socket. Everything else is left as it is by default.
func newHome(b *testing.B, dir, socket string, roles ...string) config.Home {
	b.Helper()
	var y strings.Builder
	fmt.Fprintf(&y, "version: 1\nproject: bench\nprovider: codex\ntmux: {socket_path: %q}\nallow:\n", socket)
	for _, role := range roles {
		fmt.Fprintf(&y, "  %s: [%s]\n", role, session(role))
	}
	home := config.Home(dir)
	check(b, os.MkdirAll(dir, 0o700))
	check(b, os.WriteFile(home.Config(), []byte(y.String()), 0o600))
	return home
}

// idleHome has nobody to type to and an opened journal. That keeps a push that
// is the last to leave from folding the log back, which a daemon would spare it
// just the same.
func idleHome(b *testing.B) config.Home {
	b.Helper()
	dir := b.TempDir()
	home := newHome(b, filepath.Join(dir, "home"), filepath.Join(dir, "no-tmux"), "LD", "PMO")
	openRoom(b, home)
	return home
}

func openRoom(b *testing.B, home config.Home) *notifyd.Mailroom {
	b.Helper()
	file, err := config.Load(home)
	check(b, err)
	room, err := notifyd.Open(b.Context(), home, file, notifyd.OpenOptions{})
	check(b, err)
	b.Cleanup(func() { check(b, room.Close()) })
	return room
}

// envelope is a notification as a script would push it.
func envelope(id, to string) messaging.Envelope {
	return messaging.Envelope{
		Type: "notify", V: 1, MessageID: messaging.ID(id), TS: time.Now(), Project: "bench", ToAgent: to,
		Provider: "codex", SessionPrefix: "arka", Resource: messaging.Resource{Pointer: "ptr:msg:" + id}, Sender: "LD",
	}
}

// run is a process from its start to its end, which must be a good one.
func run(b *testing.B, input, name string, args ...string) string {
	b.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %v\n%s%s", cmd.Args, err, out.String(), errs.String())
	}
	return out.String()
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
