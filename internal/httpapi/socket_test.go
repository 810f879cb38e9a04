package httpapi

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"arkamsg/internal/errkind"
)

func socketThere(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

func TestSocketIsPrivateAndGoesAway(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	info, err := os.Lstat(d.home.Socket())
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	if _, err := os.Lstat(filepath.Join(string(d.home), nursery)); err == nil {
		t.Error("the folder of its birth stays behind")
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if socketThere(d.home.Socket()) {
		t.Error("the socket stays behind")
	}
}

// TestSocketIsBornInPrivate: even with an umask that forbids nothing, there is
// no instant at which another user could reach it.
func TestSocketIsBornInPrivate(t *testing.T) {
	dir := t.TempDir()
	l, err := listenAt(dir, "s", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, _ := os.Lstat(filepath.Join(dir, "s")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	// The only folder in which the socket has another mode:
	born := filepath.Join(dir, nursery)
	if err := os.Mkdir(born, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := bear(born, filepath.Join(born, "s")); err == nil {
		t.Error("born in a folder that somebody else had made")
	}
}

// listenAt listens under the given umask.
func listenAt(dir, name string, mask int) (*socket, error) {
	old := syscall.Umask(mask)
	defer syscall.Umask(old)
	return listenSocket(filepath.Join(dir, name))
}

func TestStaleSocketIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	leaveBehind(t, path)
	// A daemon that died while the socket was being born leaves this:
	if err := os.Mkdir(filepath.Join(dir, nursery), 0o700); err != nil {
		t.Fatal(err)
	}
	leaveBehind(t, filepath.Join(dir, nursery, "s"))
	s, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := s.Close(); err != nil || socketThere(path) {
		t.Errorf("close: %v, still there: %t", err, socketThere(path))
	}
}

// leaveBehind leaves a socket file that nobody listens on.
func leaveBehind(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOtherFilesAreRefusedAndStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	leaveBehind(t, target)
	for name, plant := range map[string]func(string) error{
		"file":    func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) },
		"folder":  func(p string) error { return os.Mkdir(p, 0o700) },
		"symlink": func(p string) error { return os.Symlink(target, p) },
		"fifo":    func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		path := filepath.Join(dir, name)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		_, err := listenSocket(path)
		if errkind.Of(err) != errkind.Refused || errkind.Hint(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() {
			t.Errorf("%s was changed", name)
		}
	}
	if _, err := listenSocket(filepath.Join(dir, strings.Repeat("x", 120))); errkind.Of(err) != errkind.Refused {
		t.Errorf("long path: %v", err)
	}
}

func TestCloseLeavesAnothersSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	first, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil || !socketThere(path) {
		t.Errorf("close: %v, the other's is there: %t", err, socketThere(path))
	}
}

// strangerSocket makes the test binary a stranger who knocks at this socket.
const strangerSocket = "ARKA_TEST_STRANGER_SOCKET"

func beStranger(path string) {
	fmt.Printf("uid %d: %s\n", os.Getuid(), knock(path))
}

// knock asks for /healthz and says what came of it.
func knock(path string) string {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return "cannot connect: " + err.Error()
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	answer, err := io.ReadAll(conn)
	if len(answer) > 0 {
		return "answered"
	}
	return fmt.Sprintf("hung up on (%v)", err)
}

func TestForeignUserIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		owner int // whom the door takes for its user
		want  string
	}{
		"the user":   {os.Geteuid(), "answered"},
		"a stranger": {os.Geteuid() + 1, "hung up on"},
	} {
		path := filepath.Join(t.TempDir(), "s")
		serveFor(t, path, c.owner)
		if got := knock(path); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
		if os.Geteuid() == 0 && c.owner == 0 {
			strangerKnocks(t, path)
		}
	}
}

// strangerKnocks sends a process of another user, past a mode that would let it
// in: the kernel's word must be enough.
func strangerKnocks(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe") // its folder may be closed to the stranger
	cmd.Env = append(os.Environ(), strangerSocket+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "uid 65534: hung up on") {
		t.Errorf("%v: %s", err, out)
	}
}

func serveFor(t *testing.T, path string, owner int) {
	t.Helper()
	s, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	e := newEntrance(peerListener{socket: s, uid: uint32(owner), log: log}, http.HandlerFunc(healthz), log)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
