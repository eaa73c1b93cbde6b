package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// TestCase60FiftyStarts is case 60 with the real program: of fifty that start at once where
// a dead one left its socket, one serves and the others say why they do not. None removes
// what is not its own: the socket that answers in the end is that of the one that serves.
func TestCase60FiftyStarts(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(clitest.ShortDir(t), "h")
	log := home + ".log"
	first, err := startDaemon(t.Context(), exe, home, log, cli.ForeignFree(os.Environ()))
	if err != nil {
		t.Fatal(err)
	}
	_ = first.stop(syscall.SIGKILL) // which leaves the socket behind
	beside := filepath.Join(home, "mine")
	if err := os.WriteFile(beside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmds := make([]*exec.Cmd, 50)
	said := make([]strings.Builder, len(cmds))
	ended := make(chan int, len(cmds))
	var all sync.WaitGroup
	for i := range cmds {
		cmds[i] = exec.Command(exe, "serve", "--home", home)
		cmds[i].Args[0], cmds[i].Env, cmds[i].Stderr = "emberd", cli.ForeignFree(os.Environ()), &said[i]
		if err := cmds[i].Start(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() { _ = cmds[i].Wait(); ended <- i })
	}
	serving := (len(cmds) - 1) * len(cmds) / 2 // the sum of all, less those that end
	for range len(cmds) - 1 {
		i := <-ended
		serving -= i
		if code := cmds[i].ProcessState.ExitCode(); code != int(cli.ExitLocked) {
			t.Errorf("one of those that do not serve ended with %d, want %d: %s", code, cli.ExitLocked, said[i].String())
		}
	}
	client := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	defer client.Close()
	for deadline := time.Now().Add(time.Minute); ; {
		who, err := op.Version.Call(t.Context(), client, &op.VersionRequest{})
		if err == nil {
			if who.PID != cmds[serving].Process.Pid {
				t.Errorf("process %d answers, want %d", who.PID, cmds[serving].Process.Pid)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody answers: ", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmds[serving].Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	all.Wait()
	if text, err := os.ReadFile(beside); err != nil || string(text) != "mine" {
		t.Errorf("what lay beside the socket: %q, %v", text, err)
	}
}
