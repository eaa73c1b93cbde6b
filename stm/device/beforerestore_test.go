package device

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/stm/record"
)

// The data folder from before a restore is recognized by the log of the name that the device had then.
func TestTheFolderFromBeforeARestore(t *testing.T) {
	data, state := t.TempDir(), t.TempDir()
	open := func() *Identity {
		t.Helper()
		d, _, err := OpenIdentity(durable.OS{}, data, state, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before := open()
	if err := ForgetDevice(durable.OS{}, state, ""); err != nil {
		t.Fatal(err)
	}
	now := open()
	for range 2 {
		if err := now.Reserve(durable.OS{}, now.Segment+1, record.Stamp{}); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(why string) {
		t.Helper()
		if err := Gone(durable.OS{}, data, state); !errors.Is(err, ErrLogGone) || !strings.Contains(err.Error(), why) {
			t.Errorf("the error is %v, want %q", err, why)
		}
	}
	gone("mount the disk")
	folder := filepath.Join(data, "stm", before.ID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	gone("mount the disk")
	if err := os.WriteFile(filepath.Join(folder, record.SegmentName(1)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	gone("to use the memories from before the restore, run: emberd serve --accept-empty-data")
}
