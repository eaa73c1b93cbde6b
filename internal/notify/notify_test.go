package notify

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"emberd/memory"
)

// manager is the other end: a real socket of datagrams, and a process of its own that is
// told about it, since Take changes the environment of the whole process.
type manager struct {
	*net.UnixConn
	path string
}

func listen(t *testing.T, name string) *manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &manager{conn, name}
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "no") // t.TempDir may be too long for a socket
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

// hears reads one datagram.
func (m *manager) hears(t *testing.T) string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := m.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestTheManagerIsTold(t *testing.T) {
	for name, path := range map[string]string{"path": filepath.Join(shortDir(t), "n"), "abstract": "@emberd-test-" + strconv.Itoa(os.Getpid())} {
		t.Run(name, func(t *testing.T) {
			if name == "abstract" && runtime.GOOS != "linux" {
				t.Skip("this system has no abstract sockets")
			}
			there := listen(t, path)
			t.Setenv("NOTIFY_SOCKET", path)
			t.Setenv("WATCHDOG_USEC", "30000000")
			m, err := Take()
			if err != nil {
				t.Fatal(err)
			}
			if left := os.Getenv("NOTIFY_SOCKET") + os.Getenv("WATCHDOG_USEC"); left != "" {
				t.Errorf("the environment still has %q, which programs that are started would inherit", left)
			}
			for _, tt := range []struct {
				tell func() error
				want string
			}{
				{func() error { return m.Ready("serving\n12 memories") }, "READY=1\nSTATUS=serving 12 memories"},
				{m.Reloading, "RELOADING=1"},
				{func() error { return m.Status("well") }, "STATUS=well"},
				{m.Stopping, "STOPPING=1"},
			} {
				if err := tt.tell(); err != nil {
					t.Fatal(err)
				}
				if got := there.hears(t); got != tt.want {
					t.Errorf("told %q, want %q", got, tt.want)
				}
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A check that fails is not told, and the next one is.
func TestOnlyAWellProcessIsSaidToBe(t *testing.T) {
	there := listen(t, filepath.Join(shortDir(t), "n"))
	t.Setenv("NOTIFY_SOCKET", there.path)
	t.Setenv("WATCHDOG_USEC", "3000") // a check each millisecond
	m, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	sick := errors.New("no answer")
	var checks, failures int
	go func() {
		defer close(done)
		m.Watch(ctx, func(context.Context) error {
			if checks++; checks <= 3 {
				return sick
			}
			return nil
		}, func(err error) {
			if failures++; !errors.Is(err, sick) {
				t.Errorf("reported %v, want %v", err, sick)
			}
			if checks > 3 {
				t.Errorf("check %d succeeded and was reported", checks)
			}
		})
	}()
	if got := there.hears(t); got != "WATCHDOG=1" {
		t.Errorf("told %q, want that it is well", got)
	}
	stop()
	<-done
	if failures != 3 || checks < 4 {
		t.Errorf("%d of %d checks were reported, want 3 of at least 4", failures, checks)
	}
}

func TestNobodyIsTold(t *testing.T) {
	m, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(t.Context(), func(context.Context) error { t.Error("asked, though nobody wants to know"); return nil }, nil)
	if err := errors.Join(m.Ready("up"), m.Reloading(), m.Stopping(), m.Status("up"), m.Close()); err != nil {
		t.Error(err)
	}
	if n := len(m.Sockets()); n != 0 {
		t.Errorf("%d sockets from nobody", n)
	}
}

func TestWhatNoManagerWroteIsRefused(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	for name, env := range map[string][]string{
		"relative":      {"NOTIFY_SOCKET=run/n"},
		"no socket":     {"NOTIFY_SOCKET=/nonexistent/n"},
		"words":         {"WATCHDOG_USEC=soon"},
		"negative":      {"WATCHDOG_USEC=-1"},
		"endless":       {"WATCHDOG_USEC=9223372036854775807"},
		"many sockets":  {"LISTEN_FDS=1000000", "LISTEN_PID=" + self},
		"minus sockets": {"LISTEN_FDS=-1", "LISTEN_PID=" + self},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pair := range env {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			_, err := Take()
			if code := memory.CodeOf(err); code != memory.Invalid && code != memory.Unavailable {
				t.Errorf("got %v", err)
			}
			want := "unset it"
			if name == "no socket" {
				want = "unset NOTIFY_SOCKET"
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}

// What is another process's is left to it: a shell between the manager and us has it in its
// environment, and the descriptors are not open here.
func TestWhatIsAnothersIsPassedOver(t *testing.T) {
	t.Setenv("LISTEN_FDS", "1")
	t.Setenv("LISTEN_PID", "1")
	t.Setenv("WATCHDOG_USEC", "1")
	t.Setenv("WATCHDOG_PID", "1")
	m, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	if m.watchdog != 0 || len(m.Sockets()) != 0 {
		t.Errorf("took %v and sockets of process 1", m.watchdog)
	}
}

// A real process gets a real socket, as descriptor 3, and answers on it.
func TestSocketsAreHandedOver(t *testing.T) {
	if os.Getenv("EMBERD_TEST_ADOPT") != "" {
		adoptAndAnswer(t)
		return
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(shortDir(t), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	file, err := ln.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// The shell becomes the test binary, and so has the process id that it says.
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" -test.run '^TestSocketsAreHandedOver$'`, os.Args[0])
	cmd.Env = append(os.Environ(), "EMBERD_TEST_ADOPT=1")
	cmd.ExtraFiles = []*os.File{file}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err := errors.Join(err, cmd.Wait()); err != nil || string(got) != "hello" {
		t.Errorf("the process answered %q (%v)\n%s", got, err, &said)
	}
}

func adoptAndAnswer(t *testing.T) {
	m, err := Take()
	if err != nil {
		t.Fatal(err)
	}
	files := m.Sockets()
	if len(files) != 1 || len(m.Sockets()) != 0 {
		t.Fatalf("took %d sockets, want one, once", len(files))
	}
	ln, err := net.FileListener(files[0])
	if err != nil {
		t.Fatal(err)
	}
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
