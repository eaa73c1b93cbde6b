package api

import (
	"errors"
	"fmt"
	"net"
)

// peerOf asks the kernel who connected. The uid is -1 when it does not say.
func peerOf(conn net.Conn) (peer, error) {
	nobody := peer{uid: -1}
	sock, ok := conn.(*net.UnixConn)
	if !ok {
		return nobody, fmt.Errorf("a %T has no peer credentials", conn)
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return nobody, fmt.Errorf("reach the socket: %w", err)
	}
	var who peer
	var asked error
	err = raw.Control(func(fd uintptr) { who, asked = credentials(int(fd)) })
	if err := errors.Join(err, asked); err != nil {
		return nobody, fmt.Errorf("ask for peer credentials: %w", err)
	}
	return who, nil
}
