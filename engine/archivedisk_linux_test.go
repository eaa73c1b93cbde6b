package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that does not take the notes is one reason for all, and nothing is half done.
func TestArchivingOnDisksThatRefuse(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	dir := h.Vaults[0]
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	d := &desk{house: h, t: t}
	d.start()
	long, other := save(t, d.Engine, "long "+strings.Repeat("and wide ", 2000)).ID, save(t, d.Engine, leaky).ID
	h.write(t, "fill.md", strings.Repeat("x", 56<<10))
	d.tried(", because the disk is full; free some space and try again", long, other)
	ok(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	d.tried("the disk of the vault is mounted read-only; remount it read-write", long, other)
	ok(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=1m"))
	ok(t, os.Remove(filepath.Join(dir, "fill.md")))
	d.archived(long, other)
	ok(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	if got := d.rekindled(other).Memory.Content; got != leaky { // reading needs no more
		t.Errorf("it says %q", got)
	}
}
