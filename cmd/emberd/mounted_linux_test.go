package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// Disks that are full or read-only, under a real daemon, numbered as in faults_linux_test.go.

// mounted starts a daemon whose data folder is a file system of its own, in a
// user namespace, and returns what carries out a command in there.
func mounted(t *testing.T, options string) (*tester, func(args ...string)) {
	t.Helper()
	if err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", t.TempDir()).Run(); err != nil {
		t.Skipf("a user namespace with a file system of its own cannot be made here: %v", err)
	}
	home := filepath.Join(clitest.ShortDir(t), "h")
	if err := os.MkdirAll(filepath.Join(home, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`mount -t tmpfs -o mode=700,%s none %s/data && exec "$0" "$@"`, options, home)
	d := runDaemonIn(t, home, "unshare", "-rm", "sh", "-c", script)
	return d, func(args ...string) {
		t.Helper()
		pid := strconv.Itoa(d.ended.cmd.Process.Pid)
		out, err := exec.Command("nsenter", slices.Concat([]string{"-t", pid, "-U", "-m", "--preserve-credentials"}, args)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// Case 12: read-only is left when the disk is writable again, without a restart
// and without anybody saving.
func TestDaemonLeavesReadOnlyMode(t *testing.T) {
	t.Parallel()
	d, inside := mounted(t, "size=64m")
	data := d.status().Data
	inside("mount", "-o", "remount,ro", data)
	d.wantRefused(memory.ReadOnly)
	if st := d.status(); st.Health != "read-only" || !strings.Contains(st.Log.ReadOnly, "mounted read-only") {
		t.Errorf("health %s, %q", st.Health, st.Log.ReadOnly)
	}
	inside("mount", "-o", "remount,rw", data)
	d.until("a disk that can be written again", func(s *op.StatusResult) bool { return s.Health == "ok" })
	d.mustSave("lighthouse")
	d.wantFound("lighthouse")
}

// Case 9: saves are refused while the disk is nearly full, forgetting is not.
func TestDaemonOnAFullDisk(t *testing.T) {
	t.Parallel()
	d, inside := mounted(t, "size=24m")
	first := d.mustSave("before")
	data := d.status().Data
	inside("dd", "if=/dev/zero", "of="+data+"/filler", "bs=1M", "count=15", "status=none")
	d.until("a disk that is nearly full", func(s *op.StatusResult) bool {
		_, _ = d.save("does it still fit") // asks the disk
		return s.Log.LowSpace != ""
	})
	d.wantRefused(memory.DiskFull)
	if _, err := op.Forget.Call(t.Context(), d, &op.ForgetRequest{ID: string(first)}); err != nil {
		t.Errorf("forget on a full disk: %v", err)
	}
	inside("rm", data+"/filler")
	d.mustSave("after")
}
