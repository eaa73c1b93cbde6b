package api

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"emberd/memory"
)

// handed is a listening socket as a manager hands it over: opened by somebody else, whose
// file stays when that closes.
func handed(t *testing.T, path string) *os.File {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	f, err := ln.File()
	if err := errors.Join(err, ln.Close()); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestInheritedSocketIsClosedToOthersAndStays(t *testing.T) {
	path := filepath.Join(socketDir(t), "s")
	ln, err := Inherit(handed(t, path), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v (%v), want mode 0600", info, err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	there, err := ln.Accept()
	if err := errors.Join(err, conn.Close(), there.Close(), ln.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("closing it removed the manager's socket: %v", err)
	}
}

func TestOtherSocketsAreNotInherited(t *testing.T) {
	for name, tt := range map[string]struct {
		hand func(t *testing.T, dir string) *os.File
		code memory.Code
		want string
	}{
		"another path": {func(t *testing.T, dir string) *os.File { return handed(t, filepath.Join(dir, "other")) }, memory.Invalid, "run: emberd service install"},
		"a port": {func(t *testing.T, _ string) *os.File {
			ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				t.Fatal(err)
			}
			f, err := ln.File()
			if err := errors.Join(err, ln.Close()); err != nil {
				t.Fatal(err)
			}
			return f
		}, memory.Invalid, "run: emberd service install"},
		"a file": {func(t *testing.T, dir string) *os.File {
			f, err := os.Create(filepath.Join(dir, "s"))
			if err != nil {
				t.Fatal(err)
			}
			return f
		}, memory.Invalid, "is not listening"},
		"in a folder that others may write to": {func(t *testing.T, dir string) *os.File {
			if err := os.Chmod(dir, 0o757); err != nil {
				t.Fatal(err)
			}
			return handed(t, filepath.Join(dir, "s"))
		}, memory.Forbidden, "run: chmod go-w"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := socketDir(t)
			_, err := Inherit(tt.hand(t, dir), filepath.Join(dir, "s"))
			if memory.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s: %s", err, tt.code, tt.want)
			}
		})
	}
}

// socketDir is a private folder in which the path of a socket is short enough.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
