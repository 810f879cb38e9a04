package httpapi

import (
	"net"
	"sync"
)

// maxConns bounds the connections at each way in.
const maxConns = 128

// cappedListener lets a connection in only while fewer than cap(places) are
// open. The others wait in the kernel's queue; the timeouts see to it that
// places become free.
type cappedListener struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	close  func() error
}

func capped(l net.Listener, n int) *cappedListener {
	c := &cappedListener{Listener: l, places: make(chan struct{}, n), closed: make(chan struct{})}
	c.close = sync.OnceValue(func() error {
		close(c.closed)
		return l.Close()
	})
	return c
}

func (l *cappedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &cappedConn{Conn: conn, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

func (l *cappedListener) Close() error { return l.close() }

type cappedConn struct {
	net.Conn
	leave func()
}

func (c *cappedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
