package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
)

// Listen opens the daemon's socket at path, mode 0600, in a directory that no other user can write
// to. It makes one of mode 0700 when there is none.
//
// The caller must hold the daemon's lock, and keep it until the listener is
// closed: only the holder may remove the socket that a dead daemon left behind,
// which Listen does if no process answers there. Two callers without the lock
// could each mistake the other's new socket for a stale one.
//
// Listen removes nothing but a stale socket. Close removes the socket unless
// another file has replaced it, or the process may not write to its folder any more: the next
// Listen then finds it stale.
func Listen(path string) (net.Listener, error) {
	if err := checkSocketPath(path); err != nil {
		return nil, err
	}
	if err := ownDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := clearStale(path); err != nil {
		return nil, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot open socket %s: %w", path, err)
	}
	ln.SetUnlinkOnClose(false)
	s, err := own(ln, path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path), ln.Close())
	}
	return s, nil
}

// Inherit takes over a listening socket that a service manager opened at path for the daemon,
// and closes f. It gives the socket mode 0600 and checks that no other user can write to its
// directory. Close does not remove the socket: the service manager continues to listen, and
// starts the next daemon.
func Inherit(f *os.File, path string) (net.Listener, error) {
	ln, err := net.FileListener(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, memory.Errorf(memory.Invalid,
			"the socket from the service manager is not listening (%w); run: emberd service install", err)
	}
	if at := ln.Addr(); at.Network() != "unix" || at.String() != path {
		return nil, errors.Join(memory.Errorf(memory.Invalid,
			"the service manager opened the socket %s, but the setting socket is %s; run: emberd service install", at,
			path),
			ln.Close())
	}
	if err := ownDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	if err := protect(path); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// protect closes a socket to others, unless it is: a service may not write where it lies.
func protect(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm() != 0o600 {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot set the permissions of the socket: %w", err)
	}
	return nil
}

func checkSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return memory.Errorf(memory.Invalid,
			"too many bytes in the socket path %s: %d (limit %d); choose a folder with a shorter path", path, len(path),
			maxSocketPath)
	}
	return nil
}

// ownDir creates dir, or checks that no other user can write to it.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the socket folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("cannot check the socket folder: %w", err)
	}
	if !info.IsDir() {
		return memory.Errorf(memory.Forbidden, "socket folder %s is a symbolic link; use the path of its target", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return memory.Errorf(memory.Forbidden, "socket folder %s belongs to another user; choose a folder of your own",
			dir)
	}
	if info.Mode()&os.ModeSticky != 0 { // the other users need it open
		return memory.Errorf(memory.Forbidden, "socket folder %s is shared by all users; set the setting "+
			"socket to a path in a folder of your own, such as %s", dir,
			filepath.Join(dir, fmt.Sprintf("emberd-%d", os.Geteuid()), "emberd.sock"))
	}
	if durable.OthersWrite(info) {
		return memory.Errorf(memory.Forbidden,
			"other users can write to the socket folder %s (mode %04o); run: chmod go-w %s", dir, info.Mode().Perm(),
			dir)
	}
	return nil
}

// clearStale removes the socket at path if its daemon is gone.
func clearStale(path string) error {
	stale, err := SocketFree(path)
	if err != nil || !stale {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot remove the stale socket: %w", err)
	}
	return nil
}

// SocketFree returns an error if a daemon listens at path, or something else is there, and reports whether the socket
// of a daemon that is gone is there. It changes nothing.
func SocketFree(path string) (stale bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return false, memory.Errorf(memory.Invalid,
			"%s already exists and is not a socket; move the file, or choose another path for the socket", path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		return false, errors.Join(memory.Errorf(memory.Busy,
			"a daemon is already listening on %s; stop that daemon first", path), conn.Close())
	}
	// Every other failure may be a daemon that is alive: too busy, or another user's.
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return false, memory.Errorf(memory.Busy,
			"unknown whether a daemon is listening on %s (%w); stop the daemon, or remove the socket", path, err)
	}
	return true, nil
}

// socket is a listener that knows which file is its own.
type socket struct {
	*net.UnixListener
	remove func() error // its file; a second call does nothing
	close  func() error
}

// own gives the socket mode 0600. Before that its mode comes from the umask of the process,
// which this package must not change. Another user who connects in the meantime is refused by the
// credentials that the kernel gives.
func own(ln *net.UnixListener, path string) (*socket, error) {
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("cannot set the permissions of the socket: %w", err)
	}
	mine, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("check socket: %w", err)
	}
	remove := sync.OnceValue(func() error {
		now, err := os.Lstat(path)
		if err != nil || !os.SameFile(mine, now) {
			return nil
		}
		if err = os.Remove(path); errors.Is(err, fs.ErrPermission) {
			return nil // of the sandbox, which keeps the folder of the configuration as it is
		}
		return err
	})
	return &socket{ln, remove, sync.OnceValue(func() error { return errors.Join(remove(), ln.Close()) })}, nil
}

// Close removes the socket and stops listening. A second call does nothing.
func (s *socket) Close() error { return s.close() }
