package api

import "golang.org/x/sys/unix"

// maxSocketPath is the room in sun_path, less its final NUL: unix(4).
const maxSocketPath = 103

// credentials returns the credentials of LOCAL_PEERCRED and LOCAL_PEERPID, unix(4).
func credentials(fd int) (peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		return peer{}, err
	}
	return peer{int(cred.Uid), pid}, nil
}
