package runstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/cleanup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

func newRun(minute int, phase Phase) *Run {
	at := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
	return &Run{Phase: phase, Executing: true, CleanupRun: op.CleanupRun{ID: NewID(at), Collection: "knowledge", Started: at,
		Counts: map[string]int{}, Actions: []op.CleanupAction{{Action: op.CleanupDelete}}}}
}

func folder(t *testing.T, runs ...*Run) *Folder {
	t.Helper()
	f := NewFolder(durable.OS{}, filepath.Join(t.TempDir(), "cleanup"))
	for _, r := range runs {
		if err := f.Save(r); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestRunsAreListedTheLatestFirst(t *testing.T) {
	t.Parallel()
	early, late, middle := newRun(1, Ended), newRun(9, Execute), newRun(5, Begin)
	f := folder(t, early, late, middle)
	if err := f.SavePlan(late.ID, &Plan{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.path, "20260301-121500-0000.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := f.Runs()
	if err == nil || !strings.Contains(err.Error(), "20260301-121500-0000.json") {
		t.Errorf("a file that is no run is told as %v", err)
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
		if len(r.Actions) > 0 {
			t.Errorf("run %s is kept with its actions", r.ID)
		}
	}
	if !slices.Equal(ids, []string{late.ID, middle.ID, early.ID}) {
		t.Errorf("got %q", ids)
	}
	if late.Changing() != true || middle.Changing() || early.Changing() {
		t.Error("only what is being executed changes something")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	one, two := newRun(1, Ended), newRun(2, Ended)
	f := folder(t, one, two)
	any := func(*Run) bool { return true }
	for id, want := range map[string]string{"": two.ID, one.ID: one.ID, one.ID[:len("20260301-1201")]: one.ID} {
		if got, err := f.Find(id, any); err != nil || got.ID != want {
			t.Errorf("%q is %+v, %v", id, got, err)
		}
	}
	for id, want := range map[string]error{"2026": memory.ErrAmbiguous, "2027": memory.ErrNotFound} {
		if _, err := f.Find(id, any); !errors.Is(err, want) {
			t.Errorf("%q is %v", id, err)
		}
	}
	if _, err := f.Find("", func(*Run) bool { return false }); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("none that fits is %v", err)
	}
}

// What was purged is in no plan any more, and the others are as they were.
func TestForget(t *testing.T) {
	t.Parallel()
	run := newRun(1, Ended)
	f := folder(t, run)
	plan := &Plan{Queries: []cleanup.Query{{Text: "kettle seam", Want: []memory.ID{"a"}}, {Text: "tide", Want: []memory.ID{"b"}}}, Answers: [][]memory.ID{{"a"}, {"b"}}}
	for _, id := range []memory.ID{"a", "b"} {
		plan.Actions = append(plan.Actions, cleanup.Action{CleanupAction: op.CleanupAction{Action: op.CleanupHierarchy, MemoryIDs: []memory.ID{id}, Evidence: "said by " + string(id)},
			Links: []cleanup.Link{{From: id, To: id, Value: "of " + string(id)}}})
	}
	if err := f.SavePlan(run.ID, plan); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[memory.ID]string{"a": "[reports/a.md]", "c": "[]"} {
		run.Report = "reports/a.md"
		if err := f.Save(run); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Reports(id); fmt.Sprint(got) != want || err != nil {
			t.Errorf("reports about %s are %v, %v, want %s", id, got, err, want)
		}
	}
	if err := f.Forget("a"); err != nil {
		t.Fatal(err)
	}
	got, err := f.Plan(run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Queries) != 1 || got.Queries[0].Text != "tide" || fmt.Sprint(got.Answers) != "[[b]]" {
		t.Errorf("the queries are %+v of %v", got.Queries, got.Answers)
	}
	if a := got.Actions[0]; strings.Contains(a.Evidence, "said by") || a.Links[0].Value != "" {
		t.Errorf("the action about it is %+v", a)
	}
	if a := got.Actions[1]; a.Evidence != "said by b" || a.Links[0].Value != "of b" {
		t.Errorf("the other one is %+v", a)
	}
}

// The oldest go that have ended.
func TestPrune(t *testing.T) {
	t.Parallel()
	f := folder(t, newRun(0, Execute))
	for i := range maxRuns + 2 {
		r := newRun(i+1, Ended)
		if err := f.Save(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Prune(); err != nil {
		t.Fatal(err)
	}
	runs, err := f.Runs()
	if err != nil || len(runs) != maxRuns+1 || runs[len(runs)-1].Phase != Execute {
		t.Errorf("%d runs are left: %v", len(runs), err)
	}
}
