package durable_test

import (
	"io/fs"
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/durable/crashdisk"
)

func TestReadAll(t *testing.T) {
	disk := diskWithNote(t)
	if got, err := durable.ReadAll(disk, note); string(got) != oldText || err != nil {
		t.Errorf("read %q, %v, want %q", got, err, oldText)
	}
	_, err := durable.ReadAll(disk, "/none")
	wantCause(t, err, fs.ErrNotExist)
	disk.Fail(crashdisk.Fault{Op: crashdisk.OpRead, Err: syscall.EIO})
	_, err = durable.ReadAll(disk, note)
	wantCause(t, err, syscall.EIO)
}
