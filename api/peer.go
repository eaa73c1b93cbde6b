package api

import (
	"errors"
	"fmt"
	"net"
)

// peerOf asks the kernel for the process that connected. The uid is -1 if it is unknown.
func peerOf(conn net.Conn) (peer, error) {
	unknown := peer{uid: -1}
	sock, ok := conn.(*net.UnixConn)
	if !ok {
		return unknown, fmt.Errorf("a connection of type %T has no peer credentials", conn)
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return unknown, fmt.Errorf("cannot access the socket: %w", err)
	}
	var p peer
	var asked error
	err = raw.Control(func(fd uintptr) { p, asked = credentials(int(fd)) })
	if err := errors.Join(err, asked); err != nil {
		return unknown, fmt.Errorf("cannot read the peer credentials of the socket: %w", err)
	}
	return p, nil
}
