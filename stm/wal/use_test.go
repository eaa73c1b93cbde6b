package wal

import (
	"testing"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// What the log has of a memory's uses depends on that memory's changes and the clock alone: a caller
// that sees one memory learns nothing of the others from it.
func TestAChangeWritesTheUsesOfItsMemory(t *testing.T) {
	t.Parallel()
	own, other := memory.DeriveID([]byte("own")), memory.DeriveID([]byte("other"))
	u := uses{wake: make(chan struct{}, 1)}
	for _, id := range []memory.ID{own, other} {
		u.Add(id.Bytes(), record.UseTotal{Uses: 1})
	}
	changes := []*Pending{{Line: record.Line{Changes: []record.Change{{ID: other}}}}}
	if got := u.takeOf(changedKeys(changes)); len(got) != 1 || got[other.Bytes()].Uses != 1 {
		t.Errorf("a change of another memory takes %+v", got)
	}
	if got := u.takeOf(changedKeys(changes)); len(got) != 0 {
		t.Errorf("taken again: %+v", got)
	}
	if got := u.take(); len(got) != 1 || got[own.Bytes()].Uses != 1 {
		t.Errorf("the flush takes %+v", got)
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, early := range []time.Duration{0, 1, time.Second / 2, time.Second - 1} {
		if now := start.Add(early); !now.Add(untilFlush(now)).Equal(start.Add(time.Second)) {
			t.Errorf("uses at %s wait for %s", now, untilFlush(now))
		}
	}
}
