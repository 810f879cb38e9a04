package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The unit file says Type=notify and WatchdogSec: the daemon tells its service
// manager when it is ready, that it is alive, and that it stops.
func TestServiceManagerIsTold(t *testing.T) {
	dir, err := os.MkdirTemp("", "arkamsg") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	home := filepath.Join(dir, "home")
	said(t, verb(t, home, "init", "--yes"))
	daemon := verb(t, home, "daemon")
	daemon.Env = append(daemon.Env, "NOTIFY_SOCKET="+socket)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill() })
	awaitDatagram(t, manager, "READY=1")
	if answer := said(t, verb(t, home, "status")); !strings.Contains(answer, "running") {
		t.Errorf("READY=1 before it serves: %s", answer)
	}
	awaitDatagram(t, manager, "WATCHDOG=1")
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitDatagram(t, manager, "STOPPING=1")
	if err := daemon.Wait(); err != nil {
		t.Errorf("asked to stop: %v", err)
	}
}

func awaitDatagram(t *testing.T, manager *net.UnixConn, want string) {
	t.Helper()
	if err := manager.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for {
		n, err := manager.Read(buffer)
		if err != nil {
			t.Fatalf("the service manager never heard %s: %v", want, err)
		}
		if slices.Contains(strings.Split(string(buffer[:n]), "\n"), want) {
			return
		}
	}
}
