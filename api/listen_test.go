package api

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"emberd/memory"
)

// leaveStale puts a socket at path that nobody listens on.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestListenIsPrivate(t *testing.T) {
	path := socketIn(t)
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := modeOf(t, path), fs.ModeSocket|0o600; got != want {
		t.Errorf("socket has mode %v, want %v", got, want)
	}
	if got, want := modeOf(t, filepath.Dir(path)), fs.ModeDir|0o700; got != want {
		t.Errorf("folder has mode %v, want %v", got, want)
	}
	for range 2 {
		if err := ln.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Close left the socket: %v", err)
	}
}

func TestCase60ListenTakesOverAStaleSocket(t *testing.T) {
	path := socketIn(t)
	leaveStale(t, path)
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseLeavesWhatIsNotItsOwn(t *testing.T) {
	path := socketIn(t)
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	leaveStale(t, path)
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	if modeOf(t, path)&fs.ModeSocket == 0 {
		t.Error("Close removed another's socket")
	}
}

func TestCase60ListenRefusals(t *testing.T) {
	write := func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) }
	for _, c := range []struct {
		name  string
		setup func(path string) error
		says  string
	}{
		{"a file in the way", write, "already exists and is not a socket; move the file, or choose another path for the socket"},
		{"a folder in the way", func(path string) error { return os.Mkdir(path, 0o700) }, "already exists and is not a socket; move the file, or choose another path for the socket"},
		{"a link in the way", func(path string) error { return os.Symlink("elsewhere", path) }, "already exists and is not a socket; move the file, or choose another path for the socket"},
		{"a socket of another kind", func(path string) error {
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			if err == nil {
				t.Cleanup(func() { conn.Close() })
			}
			return err
		}, "unknown whether a daemon is listening on"},
		{"a folder that others write to", func(path string) error { return os.Chmod(filepath.Dir(path), 0o757) }, "(mode 0757); run: chmod go-w "},
		{"a folder for all users", func(path string) error { return os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky) }, "is shared by all users; set the setting socket to a path in a folder of your own, such as "},
		{"a linked folder", func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+".real"), os.Symlink(dir+".real", dir))
		}, "is a symbolic link; use the path of its target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := socketIn(t)
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), c.setup(path)); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Listen = %v, want it to say %q", err, c.says)
			}
			if after, _ := os.Lstat(path); before != nil && !os.SameFile(before, after) {
				t.Error("what was in the way is gone")
			}
		})
	}
}

// A folder that a user made has this mode, and only the owner can put another socket there.
func TestListenInAFolderThatOthersRead(t *testing.T) {
	path := socketIn(t)
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	ln, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if mode := modeOf(t, path).Perm(); mode != 0o600 {
		t.Errorf("the socket has mode %04o, want 0600", mode)
	}
}

func TestListenRefusesAFolderOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	path := socketIn(t)
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.Chown(filepath.Dir(path), 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("Listen = %v, want that the folder belongs to another user", err)
	}
}

func TestPathBound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s") + "/"
	longest := dir + strings.Repeat("x", maxSocketPath-len(dir))
	ln, err := Listen(longest)
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	_, err = Listen(longest + "x")
	if memory.CodeOf(err) != memory.Invalid || !strings.Contains(err.Error(), fmt.Sprintf(": %d (limit 10", maxSocketPath+1)) {
		t.Errorf("Listen = %v, want the bound", err)
	}
}

// Whoever holds the lock may take over; the others never come to try.
func TestCase60OnlyOneOfFiftyListens(t *testing.T) {
	path := socketIn(t)
	leaveStale(t, path)
	var won, lost atomic.Int32
	var all sync.WaitGroup
	var listeners [50]net.Listener
	for i := range listeners {
		all.Go(func() {
			lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { lock.Close() })
			if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
				lost.Add(1)
				return
			}
			if listeners[i], err = Listen(path); err != nil {
				t.Error(err)
				return
			}
			won.Add(1)
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 49 {
		t.Errorf("%d won and %d lost, want 1 and 49", won.Load(), lost.Load())
	}
	for _, ln := range listeners {
		if ln != nil {
			ln.Close()
		}
	}
}

func TestCase60ALiveDaemonKeepsItsSocket(t *testing.T) {
	c, sock := start(t, newShelf())
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := Listen(sock); err == nil || !strings.Contains(err.Error(), "a daemon is already listening on") {
				t.Errorf("Listen = %v, want that another listens", err)
			}
		})
	}
	all.Wait()
	save(t, c, "still there")
}
