package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// needs returns the paths of programs, or skips the test naming the missing one.
func needs(t *testing.T, programs ...string) (paths []string) {
	t.Helper()
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is missing: install systemd and util-linux", name)
		}
		paths = append(paths, path)
	}
	return paths
}

// ear is where a daemon tells its manager how it is.
type ear struct{ *net.UnixConn }

// until returns the message that begins so, passing over others.
func (e ear) until(t *testing.T, beginning string) string {
	t.Helper()
	buf := make([]byte, 4096)
	if err := e.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for {
		n, err := e.Read(buf)
		if err != nil {
			t.Fatalf("the daemon did not say %s: %v", beginning, err)
		}
		if said := string(buf[:n]); strings.HasPrefix(said, beginning) {
			return said
		}
	}
}

// The daemon is started by the first question to a socket that systemd's own program
// listens on. It answers, tells how it is, reads its settings again, and leaves the socket.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	activate := needs(t, "systemd-socket-activate")[0]
	emberd := needs(t, "emberd")[0]
	dir := clitest.ShortDir(t)
	home, notify := filepath.Join(dir, "h"), filepath.Join(dir, "notify")
	socket := filepath.Join(home, "emberd.sock")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	manager := ear{conn}

	var said strings.Builder
	cmd := exec.Command(activate, "-l", socket, "-E", "NOTIFY_SOCKET="+notify, "-E", "WATCHDOG_USEC=600000", emberd, "serve", "--home", home)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		if t.Failed() {
			t.Log(said.String())
		}
	}()
	client := api.NewClient(socket, nil)
	defer client.Close()
	awaitSocket(t, socket)
	v, err := op.Version.Call(t.Context(), client, &op.VersionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if v.PID != cmd.Process.Pid {
		t.Errorf("process %d answered, want %d, which took the socket over", v.PID, cmd.Process.Pid)
	}
	manager.until(t, "READY=1\nSTATUS=serves "+home)
	manager.until(t, "WATCHDOG=1")
	manager.until(t, "WATCHDOG=1")

	readsAgain(t, manager, cmd.Process, home)
	if _, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: "it went on serving"}); err != nil {
		t.Error(err)
	}

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	manager.until(t, "STOPPING=1")
	ended = true
	if err := cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("the daemon removed the manager's socket: %v", err)
	}
}

// readsAgain has the daemon read its settings again, and looks at what it says of them.
func readsAgain(t *testing.T, manager ear, daemon *os.Process, home string) {
	t.Helper()
	if signal.Ignored(syscall.SIGHUP) {
		t.Log("not tried: SIGHUP is ignored by what runs this test, as nohup has it, and so by the daemon")
		return
	}
	hangUp := func(config string) string {
		if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := daemon.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		manager.until(t, "RELOADING=1")
		return manager.until(t, "READY=1")
	}
	for config, want := range map[string]string{
		"log.level: debug\n":  "data",
		"history.keep: 91d\n": "restart required for history.keep",
		"log.level: loud\n":   "invalid settings: " + home + "/config.yaml:1: log.level must be debug",
		"x: 1":                `setting "x" not found`,
	} {
		if got := hangUp(config); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("settings %q were answered with %q, want %q in it", config, got, want)
		}
	}
}

// awaitSocket waits until somebody listens: there is a file some moments earlier.
func awaitSocket(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if conn, err := net.Dial("unix", name); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody listens on %s", name)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A daemon that is stopped in its tracks says nothing more, so that its manager ends it:
// what pings the manager is an answer at the socket, not a clock.
func TestADaemonThatDoesNotAnswerIsNotSaidToBeWell(t *testing.T) {
	t.Parallel()
	emberd := needs(t, "emberd")[0]
	dir := clitest.ShortDir(t)
	home, notify := filepath.Join(dir, "h"), filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	manager := ear{conn}
	log := filepath.Join(dir, "log")
	d, err := startDaemon(t.Context(), emberd, home, log, append(os.Environ(), "NOTIFY_SOCKET="+notify, "WATCHDOG_USEC=600000"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}()
	manager.until(t, "WATCHDOG=1")
	// Whoever asks at the socket's name now reaches nobody; the process and its clocks go on.
	socket := filepath.Join(home, "emberd.sock")
	if err := os.Rename(socket, socket+".aside"); err != nil {
		t.Fatal(err)
	}
	awaitText(t, log, "self-check failed")
	if err := os.Rename(socket+".aside", socket); err != nil {
		t.Fatal(err)
	}
	manager.until(t, "WATCHDOG=1")
}

func awaitText(t *testing.T, file, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), want) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not say %q but\n%s", file, want, text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
