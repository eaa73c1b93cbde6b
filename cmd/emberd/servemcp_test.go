package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/memory"
	"emberd/op"
)

func TestTheTokenIsMadeOnceAndKept(t *testing.T) {
	t.Parallel()
	name := tokenFile(t.TempDir())
	made, err := loadToken(name)
	if err != nil || len(made) < minToken {
		t.Fatalf("first: %q, %v; want a token of %d or more", made, err, minToken)
	}
	info, err := os.Lstat(name)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has mode %v, %v; want 0600", info.Mode(), err)
	}
	if again, err := loadToken(name); err != nil || again != made {
		t.Errorf("second: %q, %v; want the first one", again, err)
	}
	if other, err := loadToken(tokenFile(t.TempDir())); err != nil || other == made {
		t.Errorf("elsewhere: %q, %v; want another one", other, err)
	}
}

func TestTokensThatAreNotTaken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		mode       os.FileMode
	}{
		{"empty", "", 0o600},
		{"short", strings.Repeat("x", minToken-1), 0o600},
		{"of two words", strings.Repeat("x", minToken) + " y", 0o600},
		{"with a line break", strings.Repeat("x", minToken) + "\n\ny", 0o600},
		{"readable by the group", strings.Repeat("x", minToken), 0o640},
		{"readable by all", strings.Repeat("x", minToken), 0o604},
	}
	for _, tt := range tests {
		name := filepath.Join(t.TempDir(), "mcp-token")
		if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, tt.mode); err != nil {
			t.Fatal(err)
		}
		if got, err := loadToken(name); memory.CodeOf(err) != memory.Forbidden || got != "" || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %q, %v; want a refusal that says what to do", tt.name, got, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), tokenFile(dir)); err != nil {
		t.Fatal(err)
	}
	if got, err := loadToken(tokenFile(dir)); err == nil {
		t.Errorf("by way of a link: %q, want a refusal", got)
	}
}

// TestThePortOfARealDaemon is shown by status, kept from others, and refused when taken.
func TestThePortOfARealDaemon(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at, home := taken.Addr().String(), filepath.Join(shortDir(t), "h")
	second := exec.CommandContext(t.Context(), exe, "serve", "--home", home, "--set", "listen="+at)
	second.Args[0], second.Env = "emberd", foreignFree(os.Environ())
	if out, err := second.CombinedOutput(); second.ProcessState.ExitCode() != int(exitDisk) || !strings.Contains(string(out), "another program listens on "+at) {
		t.Errorf("with the port taken: %v, %s", err, out)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), exe, home, home+".log", foreignFree(os.Environ()), "--set", "listen="+at)
	if err != nil {
		t.Fatal(err)
	}
	c := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer c.Close()
	res, err := op.Status.Call(t.Context(), c, &op.StatusRequest{})
	if err != nil || res.MCP == nil || *res.MCP != (op.MCPStatus{URL: "http://" + at + "/mcp", TokenFile: filepath.Join(home, "state", "mcp-token")}) {
		t.Errorf("status = %+v, %v", res.MCP, err)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// TestHistoryTellsWhichAgent: what the client of emberd mcp says of itself reaches the
// daemon.
func TestHistoryTellsWhichAgent(t *testing.T) {
	t.Parallel()
	home := filepath.Join(shortDir(t), "h")
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
	history.Args[0], history.Env = "emberd", foreignFree(os.Environ())
	if out, err := history.CombinedOutput(); err != nil || !strings.Contains(string(out), "mcp the test/1") {
		t.Errorf("history: %v, %s; want that it names the test", err, out)
	}
}
