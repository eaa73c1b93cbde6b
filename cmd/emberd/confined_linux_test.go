package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// confined starts a daemon with a vault in its sandbox.
func confined(t *testing.T) (d *daemonProcess, home, vault string) {
	t.Helper()
	dir := clitest.ShortDir(t)
	home, vault = filepath.Join(dir, "h"), filepath.Join(dir, "Notes")
	writeNote(t, vault, "The lamp burns whale oil.\n")
	d = startConfined(t, home, vault)
	if b := daemonStatus(t, home).Sandbox; b == nil || !b.On {
		t.Skipf("needs a kernel with Landlock: %+v", b)
	}
	return d, home, vault
}

func startConfined(t *testing.T, home, vault string) *daemonProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), self, home, home+".log", cli.ForeignFree(os.Environ()), "--vault", vault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	return d
}

func writeNote(t *testing.T, vault, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(vault, 0o700), os.WriteFile(filepath.Join(vault, "Lamp.md"), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// No thread of the daemon, nor what it starts, can get privileges that it has not; nobody
// of the same user can read its memory without a privilege.
func TestThreadsOfTheDaemon(t *testing.T) {
	t.Parallel()
	d, _, _ := confined(t)
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", d.cmd.Process.Pid))
	if err != nil || len(files) < 2 {
		t.Fatalf("the daemon has the threads %v (%v)", files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has ended
		}
		if err != nil || !strings.Contains(string(data), "\nNoNewPrivs:\t1\n") {
			t.Errorf("%s (%v) has no line NoNewPrivs: 1", name, err)
		}
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", d.cmd.Process.Pid))
	if core := strings.Fields(strings.Split(string(limits), "Max core file size")[1]); err != nil || core[0] != "0" || core[1] != "0" {
		t.Errorf("core files may have %v bytes (%v), want 0 at most", core[:2], err)
	}
	if os.Getuid() != 0 {
		if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", d.cmd.Process.Pid)); err == nil {
			t.Errorf("the environment of the daemon can be read: %d bytes", len(data))
		}
	}
}

// A backup to a place that the daemon may not write to is moved there by the command; who
// asks the daemon itself is told what to do.
func TestBackupOutsideOfTheSandbox(t *testing.T) {
	t.Parallel()
	_, home, _ := confined(t)
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	if _, err := op.Save.Call(t.Context(), client, &op.SaveRequest{Content: "the lamp burns whale oil"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	_, err := op.BackupCreate.Call(t.Context(), client, &op.BackupCreateRequest{File: file})
	if memory.CodeOf(err) != memory.Forbidden || !strings.Contains(err.Error(), "sandbox of the daemon does not allow writing "+file) {
		t.Errorf("the daemon answers %v", err)
	}
	for _, want := range []string{"", "already exists; choose another name"} {
		cmd := exec.Command("emberd", "backup", "create", file, "--home", home)
		cmd.Env = cli.ForeignFree(os.Environ())
		out, err := cmd.CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
			t.Errorf("backup create: %v, %s; want %q", err, out, want)
		}
	}
	out, err := exec.Command("emberd", "backup", "list", file, "--home", home).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 memory") {
		t.Errorf("the backup is listed as %s (%v)", out, err)
	}
	left, err := filepath.Glob(filepath.Join(home, "state", "backups", "*.tar.gz"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind are %v (%v)", left, err)
	}
}

// The sandbox knows folders and not their names: another folder in the place of the vault
// is not read, which status says, and is after a restart.
func TestVaultReplacedOutsideOfTheSandbox(t *testing.T) {
	t.Parallel()
	d, home, vault := confined(t)
	if err := os.Rename(vault, vault+" of before"); err != nil {
		t.Fatal(err)
	}
	writeNote(t, vault, "The lamp burns petroleum.\n")
	const want = "another folder replaced the vault after the daemon started, but the sandbox allows only the earlier folder; " +
		"restart the daemon; if this happens often, set sandbox to off"
	eventually(t, "the status warns of the folder", func() bool {
		return slices.ContainsFunc(daemonStatus(t, home).Warnings, func(w string) bool { return strings.Contains(w, want) })
	})
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	startConfined(t, home, vault)
	eventually(t, "no problem found with the folder", func() bool { return len(daemonStatus(t, home).Warnings) == 0 })
}

// eventually waits for what takes a scan of a folder.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came true: %s", what)
		}
	}
}

// Folders of memories that others may write to are refused, with what to do.
func TestFoldersOthersMayWriteTo(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder string
		mode   os.FileMode
		want   string
	}{
		{"data", 0o777, "is writable by other users (mode 0777)"},
		{"state", 0o702, "is writable by other users (mode 0702)"},
		{"data", 0o755, ""},
		{"state", 0o770, ""}, // the group has its owner's number, as each has on Debian and Fedora
	} {
		home := filepath.Join(clitest.ShortDir(t), "h")
		dir := filepath.Join(home, c.folder)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, c.mode)); err != nil {
			t.Fatal(err)
		}
		if c.mode == 0o770 {
			if err := os.Chown(dir, os.Getuid(), os.Getuid()); err != nil {
				t.Skipf("needs a group with the number %d of the user: %v", os.Getuid(), err)
			}
		}
		d, err := startDaemon(t.Context(), self, home, home+".log", cli.ForeignFree(os.Environ()))
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "chmod go-w "+dir)):
			t.Errorf("%s of mode %o: %v, want %q and what to do", c.folder, c.mode, err, c.want)
		case c.want == "" && err != nil:
			t.Errorf("%s of mode %o: %v", c.folder, c.mode, err)
		}
		if err == nil {
			if err := d.stop(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
}
