package core_test

import (
	"testing"
	"time"

	"emberd/engine/core"
)

// Work that is due for another reason does not wait until nothing changes: a ticked decision is carried out although
// memories keep changing.
func TestWorkIsDueAtTheEarlierOfBothTimes(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	d := core.NewDebounce(func() time.Time { return now })
	if got := d.Next(); !got.IsZero() {
		t.Errorf("without a change it is due at %s", got)
	}
	d.Changed()
	ticked := now.Add(core.Quiet)
	d.Later(ticked)
	now = now.Add(20 * time.Second)
	d.Changed()
	if due, next := d.Due(), d.Next(); !due.Equal(now.Add(core.Quiet)) || !next.Equal(ticked) {
		t.Errorf("changes are due at %s, want 30 s from now; work is due at %s, want %s", due, next, ticked)
	}
	d.Begin()
	if got := d.Next(); !got.IsZero() {
		t.Errorf("after it began it is due at %s", got)
	}
}
