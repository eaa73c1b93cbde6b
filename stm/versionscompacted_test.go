package stm_test

import (
	"path/filepath"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/internal/durable"
	"emberd/stm/logcheck"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// What log check, history and backups read of the log stays the same over a
// compaction.
func TestViewersReadCompactedFiles(t *testing.T) {
	ts := openStore(t, wal.Options{})
	a := ts.save("one", "x")
	ts.edit(a.ID(), "content", "two")
	ts.Use(table.Use{ID: a.ID(), Uses: 1})
	b := ts.save("other")
	ts.forget(b.ID())
	ts.reopen()
	ts.edit(a.ID(), "content", "three")
	ts.reopen()
	wantA, wantB := told(ts.history(a.ID())), told(ts.history(b.ID()))
	files, err := ts.Segments()
	if err != nil {
		t.Fatal(err)
	}
	job := compaction.Job{HistoryKeep: 90 * 24 * time.Hour}
	for _, f := range files {
		if f.Own && !f.Active {
			job.Inputs = append(job.Inputs, f.Name)
		}
	}
	if _, err := ts.Rewrite(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"inputs still there", "inputs gone"} {
		if when == "inputs gone" {
			if _, err := ts.Unlink(t.Context(), time.Now().Add(time.Hour), time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := told(ts.history(a.ID())); got != wantA {
			t.Errorf("%s: history is\n%s, was\n%s", when, got, wantA)
		}
		if got := told(ts.history(b.ID())); got != wantB {
			t.Errorf("%s: history is\n%s, was\n%s", when, got, wantB)
		}
		c, err := logcheck.Check(t.Context(), durable.OS{}, filepath.Join(ts.root, "data"), time.Now())
		if err != nil || len(c.Missing) > 0 {
			t.Fatalf("%s: %+v (%v)", when, c, err)
		}
		for _, f := range c.Files {
			if len(f.Findings) > 0 {
				t.Errorf("%s: %+v", when, f.Findings)
			}
		}
	}
}
