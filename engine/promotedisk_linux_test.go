package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// Case 58 and full disks: each refusal is one sentence with its code, and the vault is
// as it was.
func TestPromotionsThatTheDiskRefuses(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, nil)
	dir := h.Vaults[0]
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a tmpfs takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	e := h.following(t)
	long, short := save(t, e, "long "+strings.Repeat("and wide ", 2000)), save(t, e, "short")
	h.write(t, "fill.md", strings.Repeat("x", 48<<10))
	err := refused(t, e, op.Promote, &op.PromoteRequest{ID: string(long.ID)})
	wantCode(t, err, memory.DiskFull, ", because the disk is full; free some space and try again")
	wantFiles(t, h, "fill.md")

	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	err = refused(t, e, op.Promote, &op.PromoteRequest{ID: string(short.ID)})
	wantCode(t, err, memory.ReadOnly, `on`)
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, h, "fill.md")
	wantPromotion(t, promoteByID(t, e, short.ID), op.PromotionWritten, "Memories/short.md")
	if err := os.Remove(filepath.Join(dir, "fill.md")); err != nil {
		t.Fatal(err)
	}
	promoteByID(t, e, long.ID)
	if got := do(t, e, op.Status, &op.StatusRequest{}); got.Vaults[0].Pending != 0 || len(got.Warnings) > 1 {
		t.Errorf("status %+v, %v", got.Vaults[0], got.Warnings)
	}
}
