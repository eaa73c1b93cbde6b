package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine/cleanup"
	"emberd/engine/core"
	cleanupplan "emberd/internal/cleanup"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
)

// A cleanup of all collections looks at each by itself, as all that merges does: what is
// merged is of one collection, and would be missing in the other.
func TestCleanupOfAllCollections(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	for i, collection := range []string{"house", "garden"} {
		do(t, c.e, op.Save, &op.SaveRequest{Content: []string{leaks, leaking}[i], Collection: collection})
	}
	clean := func() *op.CleanupRun {
		c.ms.Add(time.Minute.Milliseconds())
		return do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
	}
	if run := clean(); run.Entries != 2 || run.Clusters != 0 || run.After != 2 || len(c.all()) != 2 {
		t.Errorf("of one in each: %+v", run)
	}
	do(t, c.e, op.Save, &op.SaveRequest{Content: leaking, Collection: "house"})
	if run := clean(); run.Entries != 3 || run.Counts[op.CleanupMerge] != 1 || run.After != 2 || len(c.all()) != 2 {
		t.Errorf("of two in one: %+v", run)
	}
}

// Each backup is as large as the log, and a schedule would fill the disk with them.
func TestCleanupKeepsTheLatestBackups(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	var want []string
	for range cleanup.KeptBackups + 3 {
		c.put("asdf test test", nil)
		c.ms.Add(time.Minute.Milliseconds())
		run := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
		want = append(want, filepath.Base(run.Backup))
	}
	ok(t, os.WriteFile(filepath.Join(core.BackupFolder(c.e.Opt.State), "cleanup-mine.txt"), nil, 0o600))
	do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all"})
	files, err := os.ReadDir(core.BackupFolder(c.e.Opt.State))
	ok(t, err)
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if want = append(want[3:], "cleanup-mine.txt"); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

// What a human is asked about is not counted again, nor settled behind his back once he has
// said that both stay.
func TestCleanupAsksOnce(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	c.put("The mill wheel never turns at night", nil)
	c.put("The mill wheel turns at night", nil)
	clean := func(conflicts int, about string) {
		t.Helper()
		c.ms.Add(time.Hour.Milliseconds())
		run := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
		if run.Conflicts != conflicts || run.Counts[op.CleanupReview] != conflicts || run.Counts[op.CleanupDelete]+run.Counts[op.CleanupHierarchy] > 0 {
			t.Errorf("%s: %d conflicts and %v, want %d", about, run.Conflicts, run.Counts, conflicts)
		}
	}
	clean(1, "the first run")
	clean(0, "while it is open")
	items := do(t, c.e, op.ReviewList, &op.ReviewListRequest{})
	if len(items.Items) != 1 {
		t.Fatalf("there are %d items", len(items.Items))
	}
	do(t, c.e, op.ReviewClose, &op.ReviewCloseRequest{ID: items.Items[0].ID, Decision: "keep"})
	clean(0, "once it is decided")
	c.ms.Add(time.Hour.Milliseconds())
	do(t, c.e, op.Edit, &op.EditRequest{ID: string(items.Items[0].MemoryIDs[0]), Content: new("The mill wheel of Leith never turns at night")})
	clean(1, "once one of them changed")
}

// An incremental run looks at what changed, and at what is like that.
func TestCleanupIsIncremental(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	clean := func() *op.CleanupRun {
		c.ms.Add(time.Hour.Milliseconds())
		return do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true, Incremental: true})
	}
	first, tide := c.put(leaks, nil), c.put("The tide turns at six in the harbour", nil)
	if run := clean(); run.Entries != 2 || run.Manual != 2 || run.State != op.CleanupDone {
		t.Errorf("the first run is %+v", run)
	}
	second := c.put(leaking, nil)
	run := clean()
	want := []memory.ID{first, second}
	slices.Sort(want)
	if run.Entries != 3 || run.Manual != 2 || len(run.Actions) != 1 || !slices.Equal(run.Actions[0].MemoryIDs, want) || run.After != 2 {
		t.Errorf("the second run is %+v", run)
	}
	if row, live := c.e.Stm.Get(tide); !live || row.Has("superseded_by") {
		t.Error("what did not change was touched")
	}
}

// The keeper cleans up by itself when it is time, and not before.
func TestCleanupIsScheduled(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	c.put(leaks, nil)
	c.put(leaking, nil)
	c.ms.Add(time.Hour.Milliseconds())
	if c.e.Cleanup.CleanupDue() || !c.e.Cleanup.NextCleanup().IsZero() {
		t.Error("it is due although it is off")
	}
	c.Cleanup.Every = 7 * day
	c.reopen()
	if c.e.Cleanup.CleanupDue() {
		t.Error("it is due right after the start")
	}
	c.ms.Add(time.Hour.Milliseconds())
	if !c.e.Cleanup.CleanupDue() {
		t.Fatal("it is not due")
	}
	c.e.Cleanup.CleanByItself(t.Context())
	if why := c.e.Chores.Problem(cleanup.CleanupJob); why != "" || len(c.all()) != 1 {
		t.Errorf("%d memories are left: %s", len(c.all()), why)
	}
	journal := do(t, c.e, op.Journal, &op.JournalRequest{Limit: 1})
	if by := journal.Entries[0].By; by != cleanup.CleanupActor() {
		t.Errorf("it was done by %+v", by)
	}
	if next := c.e.Cleanup.NextCleanup(); c.e.Cleanup.CleanupDue() || !next.Equal(c.clock.Now().Add(7*day)) {
		t.Errorf("it is due again at %s", next)
	}
}

// A model's wording is taken where it says the same, and else a human is asked.
func TestCleanupRewords(t *testing.T) {
	t.Parallel()
	const outdated = "The gateway of the shop in Leith is deprecated"
	for _, r := range []struct {
		answer string
		filed  int
	}{{"The shop gateway in Leith is deprecated.", 0}, {"The gateway of the shop in Leith listens on port 80.", 1}, {"", 1},
		{"The shop gateway in Leith is deprecated, " + token + ".", 1}} {
		c := newCleaned(t)
		id := c.put(outdated, nil)
		c.ms.Add((60 * 24 * time.Hour).Milliseconds())
		c.e.Opt.Cleanup.Ask = func(_ context.Context, system, _ string, _ int) (string, error) {
			if strings.Contains(system, "word a note") {
				return r.answer, nil
			}
			return "", errors.New("it judges nothing")
		}
		c.plan = func(p *runstore.Plan) { p.Actions = []cleanupplan.Action{action(op.CleanupUpdate, id)} }
		before := c.all()
		run := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
		items := do(t, c.e, op.ReviewList, &op.ReviewListRequest{Agent: op.ReviewCleanup})
		if len(items.Items) != r.filed || run.State != op.CleanupDone {
			t.Errorf("after %q %d are filed: %s", r.answer, len(items.Items), run.State)
		}
		if run.Counts[op.CleanupReview] != r.filed || run.Counts[op.CleanupUpdate] != 1-r.filed || len(run.Actions) != 1 || run.Counts[run.Actions[0].Action] != 1 {
			t.Errorf("after %q it tells of %v: %+v", r.answer, run.Counts, run.Actions)
		}
		if got := look(t, c.e, id).Content; r.filed == 0 && got != r.answer || r.filed == 1 && got != outdated {
			t.Errorf("after %q it says %q", r.answer, got)
		}
		do(t, c.e, op.Undo, &op.UndoRequest{Tx: run.Tx})
		c.wantAll(before)
	}
}

// Without a model that could word it anew a text is for a human, as is told beforehand.
func TestCleanupWithoutAModelRewordsNothing(t *testing.T) {
	t.Parallel()
	for _, execute := range []bool{false, true} {
		c := newCleaned(t)
		c.put("The gateway of the shop in Leith is deprecated", nil)
		c.ms.Add((400 * 24 * time.Hour).Milliseconds())
		run := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: execute})
		if want := map[string]int{op.CleanupReview: 1}; !maps.Equal(run.Counts, want) {
			t.Errorf("execute %t: it tells of %v, want %v", execute, run.Counts, want)
		}
		if report := do(t, c.e, op.CleanupReport, &op.CleanupReportRequest{}).Markdown; !strings.Contains(report, "## Needs your decision (1)") {
			t.Errorf("execute %t: the report is\n%s", execute, report)
		}
	}
}

// A field of an indexer counts also when it is null, wherever it was.
func TestImportKeepsNullFieldsOfAnIndexer(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	fields := func(extra string) map[string]json.RawMessage {
		var out map[string]json.RawMessage
		ok(t, json.Unmarshal([]byte(`{"content":"asdf","created_at":"2026-01-01T00:00:00Z",`+extra+`}`), &out))
		return out
	}
	req := &op.ImportRequest{}
	for _, extra := range []string{`"file_path":null`, `"chunk_index":null,"meta":{"a":1}`, `"meta":{"parsed_at":null}`, `"file_path":"x"`, `"line":null`} {
		req.Records = append(req.Records, op.Record{ID: newID(t), Fields: fields(extra)})
	}
	do(t, c.e, op.Import, req)
	for i, r := range req.Records {
		row, live := c.e.Stm.Get(r.ID)
		if !live || core.IsManual(row.Fields()) != (i == 4) {
			t.Errorf("record %d is kept as %s", i, row.Fields())
		}
	}
}
