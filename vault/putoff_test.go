package vault_test

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// A disk that refuses is not asked every second for hours.
func TestWhatADiskRefusesIsTriedLessAndLess(t *testing.T) {
	d := newDesk(t, files{"a.md": "human"})
	d.step = func(op, _ string) error {
		if op == "export" {
			return syscall.EIO
		}
		return nil
	}
	if _, err := d.writer.Update(t.Context(), "a.md", stamp("1")); err == nil {
		t.Fatal("written to a disk that refuses")
	}
	tries := 0
	for end := d.clock.Now().Add(time.Hour); d.clock.Now().Before(end); {
		d.clock.Add(max(d.writer.Due().Sub(d.clock.Now()), time.Second))
		if _, err := d.writer.Check(t.Context()); err != nil {
			tries++
		}
	}
	if tries < 50 || tries > 70 {
		t.Errorf("%d tries in an hour", tries)
	}
	d.step = nil
	d.finish(t)
	if got := d.kept(t); !slices.Equal(got, []string{"human"}) {
		t.Errorf("backups %q", got)
	}
}
