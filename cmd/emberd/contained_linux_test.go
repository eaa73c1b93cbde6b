package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// A panic that nothing catches ends the daemon by a signal, which its manager takes for a crash,
// and not with the exit code of a wrong setting. It leaves no core dump.
func TestAPanicThatNothingCaughtIsACrash(t *testing.T) {
	t.Parallel()
	home := clitest.ShortDir(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), exe, home, home+".log", append(cli.ForeignFree(os.Environ()), adjustVar+"=panics"))
	if err != nil {
		t.Fatal(err)
	}
	ended, ok := d.stop(syscall.SIGUSR1).(*exec.ExitError)
	if !ok {
		t.Fatal("the daemon ended without an error")
	}
	if status := ended.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
		t.Errorf("the daemon ended with %v", ended)
	}
	if said, _ := os.ReadFile(home + ".log"); !strings.Contains(string(said), "panic: a panic that nothing catches") {
		t.Errorf("its log has not the panic: %s", said)
	}
	again := startDaemonIn(t, home)
	if err := again.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// readBytes returns how many bytes a process has read, from whatever: proc_pid_io(5).
func readBytes(t *testing.T, pid int) (n int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Skipf("the system does not count what a process reads: %v", err)
	}
	if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A note of 20 GiB, of which nothing is on the disk, is not read: not at the start, not when
// another note changes, not when it changes itself, nor by vault check and doctor. The others are
// searchable all along.
func TestASparseNoteIsNotRead(t *testing.T) {
	t.Parallel()
	home, notes := clitest.ShortDir(t), t.TempDir()
	sparse := filepath.Join(notes, "A sparse note.md")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(notes, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("A sparse note.md", "---\nmemory-id: 0192f3a1-b2c3-7d4e-8f5a-6b7c8d9e0f1a\n---\n")
	write("Other.md", "elderberries")
	if err := os.Truncate(sparse, 20<<30); err != nil {
		t.Skipf("the disk has no sparse files: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("vaults: ["+strconv.Quote(notes)+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDaemonIn(t, home)
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	awaitNote := func(word string) {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			res, err := op.Search.Call(t.Context(), client, &op.SearchRequest{Query: word, Scope: "notes"})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Hits) == 1 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("a minute later no note about %s is found", word)
			}
		}
	}
	awaitNote("elderberries")
	for i, word := range []string{"figs", "grapes", "hazelnuts"} {
		if err := os.Truncate(sparse, 20<<30+int64(i)); err != nil {
			t.Fatal(err)
		}
		write("Other.md", word)
		awaitNote(word)
	}
	check, err := op.VaultCheck.Call(t.Context(), client, &op.VaultCheckRequest{})
	if err != nil || check.Skipped != 1 || !strings.Contains(fmt.Sprint(check.Findings), "larger than 16 MiB") {
		t.Errorf("vault check finds %+v (%v)", check, err)
	}
	st, err := op.Status.Call(t.Context(), client, &op.StatusRequest{})
	if err != nil || len(st.Vaults) != 1 || len(st.Vaults[0].NotRead) != 1 {
		t.Errorf("status tells %+v (%v)", st, err)
	}
	if n := readBytes(t, d.cmd.Process.Pid); n > 64<<20 {
		t.Errorf("the daemon has read %d MiB", n>>20)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
