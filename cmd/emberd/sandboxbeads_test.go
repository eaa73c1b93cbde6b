package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"emberd/api"
	"emberd/op"
)

// confinedBD is a bd that keeps each issue as a file in its folder, and tries to write
// elsewhere each time.
const confinedBD = `#!/bin/sh
echo x >%q/escaped
case $1 in
create) n=$(($(ls | grep -c '^em-') + 1)); echo "$@" >em-$n; echo "{\"id\":\"em-$n\"}" ;;
*) echo '[]' ;;
esac
`

// A daemon in its sandbox runs bd, which keeps issues in its folder and writes nowhere else.
func TestTheSandboxLetsTheTrackerWork(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux, whose sandbox it is about")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, bin, tracker, outside := filepath.Join(shortDir(t), "h"), t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "bd"), fmt.Appendf(nil, confinedBD, outside), 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(foreignFree(os.Environ()), "PATH="+bin+":"+os.Getenv("PATH"))
	d, err := startDaemon(t.Context(), exe, home, home+".log", env, "--set", "review.beads=true", "--set", "review.beads_dir="+tracker)
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
}
