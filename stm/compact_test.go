package stm_test

import (
	"context"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/stm/record"
	"emberd/stm/wal"
)

// day is how long tests keep things at least.
const day = 24 * time.Hour

// sealed lists own files that can be compacted.
func (ts *testStore) sealed() []string {
	ts.t.Helper()
	files, err := ts.Segments()
	if err != nil {
		ts.t.Fatal(err)
	}
	var names []string
	for _, g := range files {
		if g.Own && g.Kind != record.History && !g.Active {
			names = append(names, g.Name)
		}
	}
	return names
}

// compact folds every sealed file into one.
func (ts *testStore) compact() compaction.Result {
	ts.t.Helper()
	got, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: ts.sealed(), HistoryKeep: 90 * day})
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// unlink removes whatever is replaced.
func (ts *testStore) unlink() []string {
	ts.t.Helper()
	got, err := ts.Unlink(context.Background(), ts.Wal().Now().Add(time.Hour), time.Time{})
	if err != nil {
		ts.t.Fatal(err)
	}
	return got.Names
}

func TestCompactionLeavesWhatCounts(t *testing.T) {
	ts := openStore(t, wal.Options{})
	pie := ts.save("apple pie").ID()
	tart := ts.save("plum tart", "sweet").ID()
	cake := ts.save("cheese cake").ID()
	edited := ts.edit(pie, "content", "apple pie with cream")
	ts.edit(tart, "source", "grandmother")
	forgotten := ts.forget(cake)
	ts.reopen()
	check := func(when string) {
		t.Helper()
		ts.wantContent(pie, "apple pie with cream")
		ts.wantContent(tart, "plum tart")
		ts.wantGone(cake)
		ts.wantFound("cream", pie)
		if m, err := ts.ReadTrashed(cake); err != nil || m.Content != "cheese cake" {
			t.Errorf("%s: trash holds %q, %v", when, m.Content, err)
		}
		if got := ts.Status().Recovery; got.Gaps != 0 || got.Quarantined != 0 || got.Unknown != 0 {
			t.Errorf("%s: recovery %+v", when, got)
		}
	}
	got := ts.compact()
	t.Logf("%+v", got)
	if got.After >= got.Before || got.Lines != 6 || got.History == "" {
		t.Errorf("compacted: %+v", got)
	}
	check("after compaction")
	ts.reopen()
	check("reopened")
	ts.withoutSnapshot()
	check("read anew")
	if got := ts.Status().Recovery; got.Replaced != 1 {
		t.Errorf("recovery %+v, want one replaced file", got)
	}
	if got := ts.unlink(); len(got) != 1 {
		t.Errorf("unlinked %v", got)
	}
	check("unlinked")
	ts.reopen()
	if got := ts.Status().Snapshot; got != "used" {
		t.Errorf("snapshot %s, want used", got)
	}
	ts.withoutSnapshot()
	check("read anew without inputs")
	ts.undo(edited.Entry)
	ts.wantContent(pie, "apple pie")
	ts.undo(forgotten.Entry)
	ts.wantContent(cake, "cheese cake")
	if got := ts.undo(""); got.Entry.Verb != "edit" {
		t.Errorf("undo took back %+v", got.Entry)
	}
}
