package durable

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked is the cause in the error of [AcquireLock] when another holder is alive.
var ErrLocked = errors.New("locked by another process")

// Lock is an exclusive advisory lock on a file, flock(2), held until Close or until the process
// dies. Child processes do not inherit it. It works between processes of one machine; on network
// file systems it may reach further or not work at all.
type Lock struct{ file *os.File }

// AcquireLock takes the lock on the file name without waiting for a holder, and makes the file,
// mode 0600, if there is none. A process that calls [Holder] at that moment does not keep it out. The
// holder's process id is written into it for people to read. The file stays when the lock is
// released: removing it would let two processes lock two files of one name.
//
// A held lock is [ErrLocked], and the message has the holder's process id if the file shows one.
func AcquireLock(name string) (*Lock, error) {
	const flags = os.O_CREATE | os.O_RDWR | unix.O_NOFOLLOW | unix.O_CLOEXEC
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	writePID(f)
	return &Lock{file: f}, nil
}

// Close releases the lock. A second Close returns fs.ErrClosed.
func (l *Lock) Close() error {
	_ = flock(l.file, unix.LOCK_UN) // a child that is just being started has the file open until it runs its program
	return l.file.Close()
}

// Holder reports whether a process holds the lock on the file name, and the process ID if the
// file shows one. Nothing is changed; a file that is not there is [fs.ErrNotExist].
func Holder(name string) (pid int, held bool, err error) {
	opened, err := OS{}.OpenRead(name)
	if err != nil {
		return 0, false, fmt.Errorf("lock: %w", err)
	}
	f := opened.(*os.File)
	defer f.Close()
	err = flock(f, unix.LOCK_SH)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return 0, false, err
	}
	pid, _ = readPID(f)
	return pid, true, nil
}

func lockFile(f *os.File) error {
	if err := checkRegular(f); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	err := lockAlone(f)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if pid, ok := readPID(f); ok {
		return fmt.Errorf("lock %s: %w (process %d)", f.Name(), ErrLocked, pid)
	}
	return fmt.Errorf("lock %s: %w", f.Name(), ErrLocked)
}

// maxLooks bounds the waits for processes that only look, of a millisecond each: [Holder] takes an
// instant, but its process may be stopped in it.
const maxLooks = 1000

// lockAlone takes the lock, or fails with EWOULDBLOCK where another process has it. [Holder] shares it
// while it looks; a lock that can be shared is free.
func lockAlone(f *os.File) error {
	for range maxLooks {
		err := flock(f, unix.LOCK_EX)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		if err := flock(f, unix.LOCK_SH); err != nil {
			return err
		}
		if err := flock(f, unix.LOCK_UN); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return unix.EWOULDBLOCK
}

// flock does not wait.
func flock(f *os.File, how int) error {
	return retryInterrupted(func() error { return unix.Flock(int(f.Fd()), how|unix.LOCK_NB) })
}

// writePID drops its errors: the lock holds without the number, and a full disk must not keep
// out the process that would make room.
func writePID(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

func readPID(f *os.File) (pid int, ok bool) {
	var buf [32]byte
	n, _ := f.ReadAt(buf[:], 0) // io.EOF is the usual end of a short file
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	return pid, err == nil && pid > 0
}
