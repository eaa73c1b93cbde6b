package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// Kill -9 of the keeper ends its daemon, too. A start right after it succeeds, and everything that was acknowledged
// is there.
func TestKillOfTheKeeper(t *testing.T) {
	t.Parallel()
	dir := clitest.ShortDir(t)
	w := newWitness(rand.Uint64(), filepath.Join(dir, "h"))
	vault := filepath.Join(dir, "Vault")
	if err := os.Mkdir(vault, 0o700); err != nil { // it is empty, so a keeper runs
		t.Fatal(err)
	}
	for round := range 5 {
		d, err := startDaemon(t.Context(), w.binary(t), w.home, w.home+".log", cli.ForeignFree(os.Environ()), "--vault", vault)
		if err != nil {
			t.Fatalf("start %d: %v", round, err)
		}
		t.Cleanup(func() { _ = d.cmd.Process.Kill() })
		client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
		t.Cleanup(client.Close)
		version := answered(t, client, op.Version, &op.VersionRequest{})
		if version.PID == d.cmd.Process.Pid {
			t.Fatal("the daemon runs without a keeper")
		}
		if list := answered(t, client, op.List, &op.ListRequest{}); list.Total != round {
			t.Errorf("%d memories at start %d", list.Total, round)
		}
		answered(t, client, op.Save, &op.SaveRequest{Content: fmt.Sprintf("the ferry of day %d was late", round)})
		_ = d.stop(syscall.SIGKILL) // the error is that it was killed
	}
	client := api.NewClient(filepath.Join(w.home, "emberd.sock"), nil)
	t.Cleanup(client.Close)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := op.Version.Call(t.Context(), client, &op.VersionRequest{}); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the last daemon outlives its keeper")
		}
	}
}
