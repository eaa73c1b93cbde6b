package llamatest

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// Gone waits until a process has ended, whatever its parent is, and fails the test after
// 20 seconds.
func Gone(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20_000)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			t.Fatal(err)
		case n == 0:
			t.Fatalf("process %d is still there after 20 s", pid)
		default:
			return
		}
	}
}
