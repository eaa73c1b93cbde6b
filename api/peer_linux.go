package api

import "golang.org/x/sys/unix"

// maxSocketPath is the room in sun_path, less its final NUL: unix(7).
const maxSocketPath = 107

// credentials returns the credentials of SO_PEERCRED, unix(7).
func credentials(fd int) (peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	return peer{int(cred.Uid), int(cred.Pid)}, nil
}
