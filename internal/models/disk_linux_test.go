package models_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/models"
)

// A full disk is one sentence, and nothing stays.
func TestFullDisk(t *testing.T) {
	large := npm(t, "v0.5.0")
	large[bins+"libggml-cpu-x64.so"] += strings.Repeat("\x00", 2<<20)
	for name, place := range map[string]string{"unpacking": large.file(t), "copying": large.unpacked(t)} {
		t.Run(name, func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
				t.Skipf("mounting a tmpfs takes root: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			dir := filepath.Join(disk, "engines")
			_, err := models.OpenRuntimes(dir, report).Install(t.Context(), models.Source{Place: place, Trust: true}, nil)
			fails(t, err, "no space left on the disk of "+dir, "free some space and run the command again")
			if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, models.ErrNoSpace) {
				t.Errorf("Install: %v, want ENOSPC", err)
			}
			holds(t, dir)
		})
	}
}
