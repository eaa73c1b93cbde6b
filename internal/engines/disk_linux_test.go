package engines

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full says so in one sentence, wherever that is found out, and nothing stays.
func TestFullDisk(t *testing.T) {
	large := npm(t, here, "v0.5.0")
	large["package/bins/linux-x64/libggml-cpu-x64.so"] += strings.Repeat("\x00", 2<<20)
	for name, source := range map[string]Source{
		"unpacking": {Archive: large.file(t)}, // which is small
		"copying":   {Dir: large.unpacked(t)},
	} {
		t.Run(name, func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
				t.Skipf("mounting a tmpfs takes root: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			e := Open(filepath.Join(disk, "engines"), says)
			e.machine = here
			_, err := e.Install(t.Context(), source, nil)
			fails(t, err, "no space left on the disk that holds "+e.folder, "make room and run this again")
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("Install: %v, want ENOSPC", err)
			}
			e.clean(t)
		})
	}
}
