package stm_test

import (
	"fmt"
	"testing"

	"emberd/compaction"
	"emberd/stm/wal"
)

// What a compaction cannot fold is not dead: it would be due again at once, without end.
func TestACompactionLeavesNothingThatMakesAnotherDue(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	want := func(when string, dead bool) {
		t.Helper()
		if got := ts.Status().Dead; got > 0 != dead {
			t.Errorf("%s: %d bytes no longer count", when, got)
		}
	}
	pie, cake := ts.save("apple pie").ID(), ts.save("cheese cake").ID()
	edit := func() {
		for n := range 3 { // of the last, the line stays whole, with what it superseded
			ts.edit(pie, "content", fmt.Sprint("apple pie with cream ", n))
		}
	}
	edit()
	ts.forget(cake) // whose line stays whole, too
	want("by the segment that is being written", false)
	for range 2 {
		ts.reopen()
		want("sealed", true)
		ts.compact()
		want("compacted", false)
		ts.unlink()
		ts.reopen()
		want("opened with a snapshot", false)
		ts.withoutSnapshot()
		want("opened without one", false)
		edit()
		want("edited again", false)
	}
}

// As long as an older file holds what newer lines superseded, that is not lost sight of.
func TestACompactionOfTheNewestFilesLeavesWhatIsDeadInOlderOnes(t *testing.T) {
	ts := openStore(t, wal.Options{Durability: wal.None})
	id := ts.save("apple pie").ID()
	ts.reopen()
	ts.edit(id, "content", "apple tart")
	ts.reopen()
	before := ts.Status().Dead
	files := ts.sealed()
	if _, err := ts.Rewrite(t.Context(), compaction.Job{Inputs: files[len(files)-1:], HistoryKeep: 90 * day}); err != nil {
		t.Fatal(err)
	}
	if got := ts.Status().Dead; got == 0 || got > before {
		t.Errorf("%d bytes no longer count, before it were %d", got, before)
	}
	ts.compact()
	if got := ts.Status().Dead; got != 0 {
		t.Errorf("%d bytes no longer count after all was folded", got)
	}
}
