package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/op"
)

// confinedBD is a bd that keeps each issue as a file in its folder, and tries to write
// elsewhere each time.
const confinedBD = `#!/bin/sh
echo x >%q/escaped
echo 'sandbox: off' >%q/config.yaml
case $1 in
create) n=$(($(ls | grep -c '^em-') + 1)); echo "$@" >em-$n; echo "{\"id\":\"em-$n\"}" ;;
*) echo '[]' ;;
esac
`

// A daemon in its sandbox runs bd, which keeps issues in its folder and writes nowhere else: not
// into the configuration of the daemon, which lies in the folder that --home names (attack 6).
func TestTheSandboxLetsTheTrackerWork(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, whose sandbox it is about")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, bin, tracker, outside := filepath.Join(clitest.ShortDir(t), "h"), t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "bd"), fmt.Appendf(nil, confinedBD, outside, home), 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(home, "config.yaml")
	if err := errors.Join(os.Mkdir(home, 0o700), os.WriteFile(config, []byte("sandbox: auto\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	env := append(cli.ForeignFree(os.Environ()), "PATH="+bin+":"+os.Getenv("PATH"))
	d, err := startDaemon(t.Context(), exe, home, home+".log", env, "--set", "review.beads="+tracker)
	if err != nil {
		t.Fatal(err)
	}
	c := api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(func() {
		c.Close()
		_ = d.cmd.Process.Kill()
	})
	saved, err := op.Save.Call(t.Context(), c, &op.SaveRequest{Content: "The kettle leaks"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := op.ReviewCreate.Call(t.Context(), c, &op.ReviewCreateRequest{MemoryIDs: []string{string(saved.Memory.ID)}})
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		shown, err := op.ReviewShow.Call(t.Context(), c, &op.ReviewShowRequest{ID: made.Item.ID})
		if err != nil {
			t.Fatal(err)
		}
		if shown.Item.Bead == "em-1" {
			break
		}
		if time.Now().After(until) {
			status, err := op.Status.Call(t.Context(), c, &op.StatusRequest{})
			t.Fatalf("the item has no issue after a minute; status warns %q (%v)", status.Warnings, err)
		}
	}
	status, err := op.Status.Call(t.Context(), c, &op.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(outside, "escaped"))
	if confined := status.Sandbox != nil && status.Sandbox.On; confined != os.IsNotExist(err) {
		t.Errorf("the sandbox is on: %v, and what bd wrote elsewhere: %v", confined, err)
	}
	set, err := os.ReadFile(config)
	if err != nil || status.Sandbox.On != (string(set) == "sandbox: auto\n") {
		t.Errorf("the sandbox is on: %v, and the configuration says %q, %v", status.Sandbox.On, set, err)
	}
	if status.Sandbox.On && slices.Contains(status.Sandbox.Write, home) {
		t.Errorf("the daemon may write to %v, its configuration among it", status.Sandbox.Write)
	}
}
