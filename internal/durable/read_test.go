package durable_test

import (
	"io/fs"
	"syscall"
	"testing"

	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
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

func TestReadAtMost(t *testing.T) {
	disk := diskWithNote(t)
	if got, err := durable.ReadAtMost(disk, note, int64(len(oldText))); string(got) != oldText || err != nil {
		t.Errorf("read %q, %v, want %q", got, err, oldText)
	}
	_, err := durable.ReadAtMost(disk, note, int64(len(oldText))-1)
	wantCause(t, err, durable.ErrTooLarge)
}
