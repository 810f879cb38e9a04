package httpapi

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"arkamsg/internal/errkind"
)

// nursery is the folder beside the socket in which it is born: nobody else can
// enter, so the socket has its mode before it can be found. Only the holder of
// the daemon's lock uses it, so what lies there was left by a dead one.
const nursery = ".sock"

// maxSocketPath is the shortest limit of the systems we build for, without the
// closing NUL (sun_path: 108 bytes on Linux, 104 on macOS).
const maxSocketPath = 103

// A socket is the listener on the unix socket, and the file that belongs to it.
type socket struct {
	*net.UnixListener
	path string
	made fs.FileInfo
}

// listenSocket makes the socket and puts it at path with mode 0600, replacing
// one that a dead daemon left behind. The caller holds the daemon's lock.
func listenSocket(path string) (*socket, error) {
	if len(path) > maxSocketPath {
		return nil, errkind.New(errkind.Refused, "the path of the socket is longer than %d bytes: %s", maxSocketPath, path).
			WithHint("choose a home with a shorter path: arkamsg --home DIR …")
	}
	if err := onlySocket(path); err != nil {
		return nil, err
	}
	dir := filepath.Join(filepath.Dir(path), nursery)
	born := filepath.Join(dir, "s")
	if err := clearNursery(dir, born); err != nil {
		return nil, err
	}
	l, err := bear(dir, born)
	if err != nil {
		return nil, err
	}
	s := &socket{UnixListener: l, path: path}
	if err := s.publish(dir, born); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// onlySocket refuses to replace what is not a socket.
func onlySocket(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cannotListen(path, err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errkind.New(errkind.Refused, "%s is there and is not a socket", path).
			WithHint("look at it and move it away: ls -l %s", path)
	}
	return nil
}

// clearNursery removes exactly what we put there ourselves.
func clearNursery(dir, born string) error {
	for _, name := range []string{born, dir} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotListen(name, err)
		}
	}
	return nil
}

func bear(dir, born string) (*net.UnixListener, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, cannotListen(dir, err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: born, Net: "unix"})
	if err != nil {
		return nil, errors.Join(cannotListen(born, err), os.Remove(dir))
	}
	l.SetUnlinkOnClose(false) // it knows the name of its birth only
	return l, nil
}

func (s *socket) publish(dir, born string) error {
	if err := os.Chmod(born, 0o600); err != nil {
		return cannotListen(s.path, err)
	}
	if err := os.Rename(born, s.path); err != nil {
		return cannotListen(s.path, err)
	}
	info, err := os.Lstat(s.path)
	if err != nil {
		return cannotListen(s.path, err)
	}
	s.made = info
	return os.Remove(dir)
}

// Close stops listening and removes the file, unless it is another one by now.
func (s *socket) Close() error {
	info, err := os.Lstat(s.path)
	if err == nil && os.SameFile(info, s.made) {
		err = os.Remove(s.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(s.UnixListener.Close(), err)
}

func cannotListen(path string, err error) error {
	return errkind.New(errkind.Refused, "cannot listen on %s", path).Wrap(err).
		WithHint("check the home and its permissions: arkamsg doctor")
}
