package stm

import (
	"testing"

	"emberd/memory"
)

func TestColdMemoriesAreCounted(t *testing.T) {
	ts := openStore(t, Options{})
	want := func(n int, after string) {
		t.Helper()
		if got := ts.Cold(); got != n {
			t.Errorf("after %s: %d cold memories, want %d", after, got, n)
		}
	}
	tea, milk := ts.save("tea").ID(), ts.save("milk").ID()
	want(0, "saving")
	archived := ts.edit(tea, "stage", string(memory.Archived)).Entry
	ts.edit(milk, "stage", string(memory.Demoted))
	want(1, "archiving one")
	ts.edit(milk, "stage", string(memory.Rehydratable))
	ts.edit(milk, "source", "the shop")
	want(2, "fading the other")
	ts.reopen()
	want(2, "a start from the snapshot")
	ts.withoutSnapshot()
	want(2, "a start from the log")
	forgotten := ts.forget(milk).Entry
	want(1, "forgetting one")
	ts.undo(forgotten)
	want(2, "taking that back")
	ts.undo(archived)
	want(1, "undoing the archiving")
	ts.purge(milk)
	want(0, "purging the last")
}

func TestASearchPassesOverWhatIsLessRelevant(t *testing.T) {
	ts := openStore(t, Options{})
	both := ts.save("copper valve").ID()
	ts.save("copper pot")
	ts.save("glass valve")
	terms := asTerms("copper valve")
	all := ts.Search(Query{Terms: terms, Limit: 9})
	if all.Total != 3 || all.Best != all.Matches[0].Relevance {
		t.Fatalf("found %d, the best %v of %+v", all.Total, all.Best, all.Matches)
	}
	few := ts.Search(Query{Terms: terms, Limit: 9, Least: all.Best})
	if few.Total != 1 || len(few.Matches) != 1 || few.Matches[0].Row.ID() != both {
		t.Errorf("found %d with at least the relevance of the best, want that alone", few.Total)
	}
}
