package data

import (
	"os"
	"path/filepath"
	"testing"

	"emberd/memory"
)

// A backup that the daemon made elsewhere does not fit into its place.
func TestAFullDiskForACopyIsNamed(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "made.tar.gz")
	if err := os.WriteFile(name, []byte("a backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no full device: %v", err)
	}
	defer full.Close()
	if err := copySynced(full, name); memory.CodeOf(err) != memory.DiskFull {
		t.Errorf("the copy ended with %v", err)
	}
}
