package ramdisk

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A folder that the caller names is kept, and one that is not named is one that files fit into.
func TestTheFolderThatIsNamedIsKept(t *testing.T) {
	if dir := os.Getenv("EMBERD_TEST_TMPDIR"); dir != "" {
		if got := os.TempDir(); got != dir {
			t.Errorf("temporary files are in %s, want %s", got, dir)
		}
		return
	}
	if free(folder) >= least && !measures(os.Args) && os.TempDir() == "/tmp" && os.Getenv("TMPDIR") == "" {
		t.Errorf("temporary files are in /tmp, with %d bytes free in %s", free(folder), folder)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.md"), []byte("tide"), 0o600); err != nil {
		t.Error(err)
	}
	again := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	again.Env = append(os.Environ(), "TMPDIR="+dir, "EMBERD_TEST_TMPDIR="+dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("with TMPDIR=%s: %v\n%s", dir, err, out)
	}
}
