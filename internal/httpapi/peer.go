package httpapi

import (
	"log/slog"
	"net"
)

// peerListener admits connections of one user only. The mode of the socket file
// says the same, but a mode can be changed and the kernel's answer cannot.
type peerListener struct {
	*socket
	uid uint32
	log *slog.Logger
}

// Accept drops strangers and goes on; a stranger learns nothing but the end of
// the connection.
func (l peerListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(conn)
		if err == nil && uid == l.uid {
			return conn, nil
		}
		l.log.Warn("connection refused: another user, or nobody knows whose", "uid", uid, "error", err)
		_ = conn.Close() // nothing was said on it
	}
}
