package durable_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"emberd/internal/durable"
)

// Every sync asks the kernel for the file it is about. Nothing else can tell:
// what was written can be read back with and without.
func TestSyncsReachTheKernel(t *testing.T) {
	if dir := os.Getenv("EMBERD_TEST_SYNC_IN"); dir != "" {
		syncAll(t, dir)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is missing; install the package of that name")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync", exe, "-test.run=^TestSyncsReachTheKernel$")
	cmd.Env = append(os.Environ(), "EMBERD_TEST_SYNC_IN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("tracing is not allowed here: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(fsync|fdatasync)\(\d+<`+regexp.QuoteMeta(dir)+`([^>]*)>`).FindAllSubmatch(said, -1) {
		got = append(got, string(m[1])+" "+string(m[2]))
	}
	want := []string{"fdatasync /a", "fdatasync /b", "fsync "}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("synced %q, want %q", got, want)
	}
}

// syncAll runs in a process of its own, which is traced.
func syncAll(t *testing.T, dir string) {
	disk := at{durable.OS{}, dir}
	f, err := disk.CreateAppend(disk.path("a"))
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
	must(t, os.WriteFile(disk.path("b"), []byte("b"), 0o600))
	must(t, disk.SyncFile(disk.path("b")))
	must(t, disk.SyncDir(dir))
}
