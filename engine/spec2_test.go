package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/cleanup"
	"emberd/internal/cleanup/quality"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
)

// The tests of the specification "memory cleanup", under its names.
func TestSpec2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(t *testing.T, a *attic)
	}{
		{"test_similarity_clustering", specSimilarity},
		{"test_quality_scoring", specQuality},
		{"test_conflict_resolution", specConflicts},
		{"test_full_cleanup_pipeline", specPipeline},
		{"test_rollback_on_failure", specRollback},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newAttic(t))
		})
	}
}

// attic is a store with something of everything, and enough else that a few deletions are
// no more than a run may make.
type attic struct {
	*cleaned
	ids map[string]memory.ID // by text
}

// What is in the attic, by what is to become of it.
func twins() [][]string {
	return [][]string{
		{"The kettle in the kitchen leaks at the seam", "At the seam the kettle in the kitchen is leaking"},
		{"Nadia prefers window seats on night trains to Vienna", "On night trains to Vienna Nadia prefers window seats"},
	}
}

func versions() []string {
	return []string{"In Python 2.7 the print statement takes no parentheses", "In Python 3.12 the print statement takes parentheses"}
}

func platforms() []string {
	return []string{"On Windows the kettle keeps its settings in the profile folder", "On macOS the kettle keeps its settings in the library folder"}
}

func replacedValue() []string {
	return []string{"The ledger database listens on port 5432", "The ledger database listens on port 5433"}
}

func denied() []string {
	return []string{"The backup of the archive runs at night", "The backup of the archive never runs at night"}
}

func junk() []string { return []string{"asdf", "test test test"} }

// plain are memories of which nothing is to be done.
func plain() (out []string) {
	for i, what := range strings.Fields("harbour lantern orchard viaduct granary chapel sawmill brewery quarry foundry cannery tannery dairy smithy mint kiln") {
		out = append(out, fmt.Sprintf("The %s of %s opened in %d and is run by the family %s", what, []string{"Leith", "Oban", "Wick"}[i%3], 1801+7*i,
			strings.ToUpper(what[:1])+what[1:]+"son"))
	}
	return out
}

func newAttic(t *testing.T) *attic {
	t.Helper()
	a := &attic{cleaned: newCleaned(t), ids: make(map[string]memory.ID)}
	texts := slices.Concat(versions(), platforms(), replacedValue(), denied(), junk(), plain())
	for _, pair := range twins() {
		texts = append(texts, pair...)
	}
	for _, text := range texts {
		a.ids[text] = a.put(text, nil)
		a.ms.Add((24 * time.Hour).Milliseconds())
	}
	return a
}

func (a *attic) of(texts ...string) (ids []memory.ID) {
	a.t.Helper()
	for _, text := range texts {
		if a.ids[text] == "" {
			a.t.Fatalf("nothing says %q", text)
		}
		ids = append(ids, a.ids[text])
	}
	slices.Sort(ids)
	return ids
}

func (a *attic) clean(execute bool) *op.CleanupRun {
	a.t.Helper()
	return do(a.t, a.e, op.Cleanup, &op.CleanupRequest{Collection: "knowledge", Mode: op.CleanupFull, Execute: execute})
}

// planned is the action about exactly these memories.
func planned(run *op.CleanupRun, ids ...memory.ID) op.CleanupAction {
	slices.Sort(ids)
	for _, a := range run.Actions {
		if slices.Equal(a.MemoryIDs, ids) {
			return a
		}
	}
	return op.CleanupAction{Action: "none"}
}

// Known duplicates are found, and nothing that differs in a fact is taken for one.
func specSimilarity(t *testing.T, a *attic) {
	run := a.clean(false)
	for _, pair := range twins() {
		if got := planned(run, a.of(pair...)...); got.Action != op.CleanupMerge {
			t.Errorf("of %q becomes %+v", pair, got)
		}
	}
	for _, pair := range [][]string{versions(), platforms(), replacedValue(), denied()} {
		if got := planned(run, a.of(pair...)...); got.Action == op.CleanupMerge {
			t.Errorf("%q are merged", pair)
		}
	}
	if run.Clusters != len(twins()) || run.Counts[op.CleanupMerge] != len(twins()) {
		t.Errorf("%d clusters and %d merges", run.Clusters, run.Counts[op.CleanupMerge])
	}
}

// A model judges beside the rules, by answers that are checked, and can only spare.
func specQuality(t *testing.T, a *attic) {
	if run := a.clean(false); run.Scorer != quality.ByHeuristic || planned(run, a.of("asdf")...).Action != op.CleanupDelete {
		t.Errorf("by rules: %+v", run)
	}
	calls := 0
	a.e.Opt.Cleanup.Ask = judging(&calls, func(text string) float64 {
		if text == "asdf" {
			return 0.9 // the model knows better
		}
		return 0.05
	})
	run := a.clean(true)
	if run.Scorer != quality.ByLLM || run.ScorerCalls == 0 || run.ScorerCalls != calls || planned(run, a.of("asdf")...).Action == op.CleanupDelete {
		t.Errorf("with a model: %+v", run)
	}
	if got := planned(run, a.of("test test test")...); got.Action != op.CleanupDelete {
		t.Errorf("what both find bad becomes %+v", got)
	}
	for _, text := range plain() {
		m := look(t, a.e, a.ids[text])
		var score quality.Score
		ok(t, json.Unmarshal(m.Quality, &score))
		if score.Scorer != quality.ByLLM || score.Overall < score.Floor-quality.MaxLowered-1e-9 {
			t.Errorf("%q is worth %+v", text, score)
		}
	}
	if again := a.clean(false); again.ScorerCalls > 1 || calls > run.ScorerCalls+1 { // but for what was merged meanwhile
		t.Errorf("asked %d times again, although the answers are kept", calls-run.ScorerCalls)
	}
}

// judging is a model that judges texts by a function.
func judging(calls *int, worth func(text string) float64) quality.Ask {
	return func(_ context.Context, _, user string, _ int) (string, error) {
		var asked []struct{ ID, Text string }
		if err := json.Unmarshal([]byte(user), &asked); err != nil {
			return "", errors.New("it cannot be read")
		}
		*calls++
		var scores []map[string]any
		for _, q := range asked {
			x := worth(q.Text)
			scores = append(scores, map[string]any{"id": q.ID, "accuracy": x, "completeness": x, "specificity": x, "reusability": x, "recency": x})
		}
		out, err := json.Marshal(map[string]any{"scores": scores})
		return string(out), err
	}
}

// Versions and platforms become hierarchies, the later value supersedes, and what only a
// human can know is filed for review.
func specConflicts(t *testing.T, a *attic) {
	run := a.clean(true)
	for strategy, pair := range map[string][]string{"version": versions(), "platform": platforms(), "supersedes": replacedValue()} {
		got := planned(run, a.of(pair...)...)
		if got.Action != op.CleanupHierarchy || got.Strategy != strategy || !got.Done {
			t.Errorf("of %q becomes %+v", pair, got)
		}
		res := do(t, a.e, op.Show, &op.ShowRequest{ID: string(got.Keep), Track: new(false)})
		if out := res.Relations.Outgoing; len(out) != 1 || out[0].Type != memory.Related || out[0].Kind != strategy || string(out[0].Metadata["kind"]) != `"`+strategy+`"` {
			t.Errorf("%q are related as %+v", pair, res.Relations)
		}
	}
	old, young := a.ids[replacedValue()[0]], a.ids[replacedValue()[1]]
	if m := look(t, a.e, old); m.SupersededBy != young {
		t.Errorf("the old value is %+v", m)
	}
	history := do(t, a.e, op.History, &op.HistoryRequest{ID: string(young)})
	if c := history.Chain; len(c) != 2 || c[0].ID != old || c[0].SupersededBy != young || c[1].ID != young || c[1].SupersededBy != "" {
		t.Errorf("the chain is %+v", history.Chain)
	}
	if got := planned(run, a.of(denied()...)...); got.Action != op.CleanupReview {
		t.Errorf("what denies another becomes %+v", got)
	}
	items := do(t, a.e, op.ReviewList, &op.ReviewListRequest{Agent: op.ReviewCleanup})
	if len(items.Items) != 1 || !slices.Equal(items.Items[0].MemoryIDs, a.of(denied()...)) {
		t.Errorf("filed are %+v", items.Items)
	}
	if run.Conflicts != 4 || run.Resolved != 3 {
		t.Errorf("%d of %d conflicts are resolved", run.Resolved, run.Conflicts)
	}
	a.ms.Add(time.Hour.Milliseconds())
	if again := a.clean(false); again.Counts[op.CleanupHierarchy] != 0 || again.Counts[op.CleanupMerge] != 0 {
		t.Errorf("a second run would do %v", again.Counts)
	}
}

// A dry run changes nothing, a run does what it said, searches find as much as before, and
// all of it is one entry that goes back.
func specPipeline(t *testing.T, a *attic) {
	indexed := a.put("The kettle in the kitchen leaks at the seam!", map[string]string{"file_path": `"kettle.md"`, "line_number": "3"})
	a.ms.Add(time.Hour.Milliseconds())
	before := a.all()
	dry := a.clean(false)
	a.wantAll(before)
	a.ms.Add(time.Second.Milliseconds())
	run := a.clean(true)
	if run.State != op.CleanupDone || fmt.Sprint(run.Counts) != fmt.Sprint(dry.Counts) || run.After != dry.After || run.After != len(a.all()) {
		t.Errorf("the run is %+v\nwant as the dry run %+v", run, dry)
	}
	if _, err := os.Stat(run.Backup); err != nil || dry.Backup != "" {
		t.Errorf("the backup is %q: %v", run.Backup, err)
	}
	if run.Protected != 1 || a.all()[indexed] != before[indexed] {
		t.Errorf("what an indexer made was changed: %d are protected", run.Protected)
	}
	if most := int(0.15 * float64(run.Manual)); run.Counts[op.CleanupDelete] != len(junk()) || run.Counts[op.CleanupDelete] > most {
		t.Errorf("%d are deleted, of at most %d", run.Counts[op.CleanupDelete], most)
	}
	if run.Before == nil || run.Validated == nil || run.Validated.Recall < run.Before.Recall-0.05 || run.Before.Queries < 20 {
		t.Errorf("found are %+v, and afterwards %+v", run.Before, run.Validated)
	}
	report := do(t, a.e, op.CleanupReport, &op.CleanupReportRequest{})
	if report.Run.ID != run.ID || !strings.Contains(report.Markdown, "port 5433") || !strings.HasPrefix(report.Markdown, "---\n") {
		t.Errorf("the report is\n%s", report.Markdown)
	}
	kept, err := os.ReadFile(run.Report)
	if err != nil || strings.Contains(string(kept), "port 5433") {
		t.Errorf("the report that is kept has texts, or is not there: %v\n%s", err, kept)
	}
	do(t, a.e, op.Undo, &op.UndoRequest{Tx: run.Tx})
	a.wantAll(before)
}

// A run after which less is found, or something critical is not, takes itself back.
func specRollback(t *testing.T, a *attic) {
	wanted := plain()[:3]
	strong := do(t, a.e, op.Save, &op.SaveRequest{Content: "The spare key of the observatory is with Mrs Farquhar", Strength: new(1.9)}).Memory.ID
	a.ms.Add(time.Hour.Milliseconds())
	a.e.Opt.Cleanup.Queries = filepath.Join(t.TempDir(), "queries")
	text := "# what the shop asks\n" + strings.Join(wanted, "\n") + "\n"
	ok(t, os.WriteFile(a.e.Opt.Cleanup.Queries, []byte(text), 0o600))
	before := a.all()
	for _, c := range []struct {
		why    string
		delete []memory.ID
	}{
		{"the precision of searches fell", a.of(plain()...)},
		{"searches no longer return the critical memory " + string(strong) + "", []memory.ID{strong}},
	} {
		a.plan = func(p *runstore.Plan) {
			for _, id := range c.delete {
				p.Actions = append(p.Actions, cleanup.Action{CleanupAction: op.CleanupAction{Action: op.CleanupDelete, MemoryIDs: []memory.ID{id}}})
			}
		}
		run := a.clean(true)
		if run.State != op.CleanupRolledBack || !strings.Contains(run.RolledBack, c.why) || run.Tx == "" {
			t.Errorf("it ended as %s, since %s", run.State, run.RolledBack)
		}
		a.wantAll(before)
		for _, item := range run.Actions {
			if item.Done {
				t.Errorf("said to be done: %+v", item)
			}
		}
	}
	a.plan = nil
	if run := a.clean(true); run.State != op.CleanupDone || run.Before.Queries < len(wanted) {
		t.Errorf("a good plan ends as %+v", run)
	}
}
