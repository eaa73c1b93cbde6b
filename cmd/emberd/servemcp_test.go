package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// TestTheDaemonListensOnNoPort, whatever a config file of an earlier version asks for: another user
// who binds the port while the daemon is down would be sent the tokens of its clients.
func TestTheDaemonListensOnNoPort(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := net.Listen("tcp", "127.0.0.1:0") // of another user, for all that the daemon knows
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	home := filepath.Join(clitest.ShortDir(t), "h")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	config := "listen: " + stranger.Addr().String() + "\n"
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), exe, home, home+".log", cli.ForeignFree(os.Environ()))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(home + ".log")
	if err != nil || !strings.Contains(string(log), "listen is ignored") || !strings.Contains(string(log), "emberd mcp") {
		t.Errorf("the daemon said %s, %v; want a warning with what takes the place of listen", log, err)
	}
	if _, err := os.Stat(filepath.Join(home, "state", "mcp-token")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a token for the port: %v, want none", err)
	}
}

// TestHistoryTellsWhichAgent: what the client of emberd mcp says of itself reaches the
// daemon.
func TestHistoryTellsWhichAgent(t *testing.T) {
	t.Parallel()
	home := filepath.Join(clitest.ShortDir(t), "h")
	startDaemonIn(t, home)
	a := startAgent(t, home)
	if text, failed := a.save(t, "The kettle leaks"); failed {
		t.Fatal(text)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	history := exec.CommandContext(t.Context(), exe, "history", "--home", home)
	history.Args[0], history.Env = "emberd", cli.ForeignFree(os.Environ())
	if out, err := history.CombinedOutput(); err != nil || !strings.Contains(string(out), "mcp the test/1") {
		t.Errorf("history: %v, %s; want that it names the test", err, out)
	}
}
