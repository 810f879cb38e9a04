package httpapi

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID asks the kernel who had called connect (SO_PEERCRED).
func peerUID(conn *net.UnixConn) (uint32, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var asked error
	err = raw.Control(func(fd uintptr) {
		cred, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil {
		return 0, err
	}
	if asked != nil {
		return 0, asked
	}
	return cred.Uid, nil
}
