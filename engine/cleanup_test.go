package engine_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/cleanup"
	cleanupplan "emberd/internal/cleanup"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// cleaned is a store that is cleaned up by plans of the test's own.
type cleaned struct {
	t *testing.T
	*house
	e    *engine.Engine
	plan func(*runstore.Plan)
}

// newCleaned opens a store. With a vault, texts of what is merged go there.
func newCleaned(t *testing.T) *cleaned {
	t.Helper()
	c := &cleaned{t: t, house: newHouse(t)}
	c.Cleanup.Tampered = func(p *runstore.Plan) {
		if c.plan != nil {
			c.plan(p)
		}
	}
	c.Cleanup.Batch = 4
	c.reopen()
	return c
}

// reopen is a restart, after which the index is there.
func (c *cleaned) reopen() {
	c.t.Helper()
	if c.e != nil {
		ok(c.t, c.e.Close())
	}
	c.e = c.open(c.t)
	c.e.Storage.BuildIndex(c.t.Context())
}

// put saves a memory with keys that emberd does not know.
func (c *cleaned) put(content string, unknown map[string]string) memory.ID {
	c.t.Helper()
	id := save(c.t, c.e, content).ID
	c.set(id, unknown)
	return id
}

func (c *cleaned) set(id memory.ID, values map[string]string) {
	c.t.Helper()
	set := make(map[string]json.RawMessage)
	for key, value := range values {
		set[key] = json.RawMessage(value)
	}
	if len(set) == 0 {
		return
	}
	_, err := c.e.Stm.Update(c.t.Context(), []memory.ID{id}, "", func([]*stm.Row) (*stm.Tx, error) {
		return &stm.Tx{Verb: "import", Changes: []stm.Change{{ID: id, Set: set}}}, nil
	})
	ok(c.t, err)
}

// all is every live memory with every key.
func (c *cleaned) all() map[memory.ID]string {
	out := make(map[memory.ID]string)
	for r := range c.e.Stm.Rows() {
		fields := r.Fields()
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if string(fields[key]) != "null" {
				lines = append(lines, key+": "+string(fields[key]))
			}
		}
		out[r.ID()] = strings.Join(lines, "\n")
	}
	return out
}

func (c *cleaned) wantAll(want map[memory.ID]string) {
	c.t.Helper()
	got := c.all()
	for id, text := range want {
		if got[id] != text {
			c.t.Errorf("memory %s is\n%s\nwant\n%s", id, got[id], text)
		}
	}
	if len(got) != len(want) {
		c.t.Errorf("%d memories, want %d", len(got), len(want))
	}
}

// run executes a plan.
func (c *cleaned) run(actions ...cleanupplan.Action) *op.CleanupRun {
	c.t.Helper()
	c.plan = func(p *runstore.Plan) {
		p.Actions = slices.Clone(actions)
		for i := range p.Actions {
			slices.Sort(p.Actions[i].MemoryIDs)
			if p.Actions[i].Action == op.CleanupMerge {
				p.Actions[i].Into = newID(c.t)
			}
		}
	}
	return do(c.t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
}

func newID(t *testing.T) memory.ID {
	t.Helper()
	id, err := memory.NewID()
	ok(t, err)
	return id
}

func action(kind string, ids ...memory.ID) cleanupplan.Action {
	return cleanupplan.Action{CleanupAction: op.CleanupAction{Action: kind, MemoryIDs: ids, Evidence: "so the test says"}, Cohesion: 0.9}
}

func relate(t *testing.T, e *engine.Engine, from, to memory.ID, kind string) memory.Relation {
	t.Helper()
	return do(t, e, op.Relate, &op.RelateRequest{From: string(from), To: string(to), Type: kind}).Relation
}

// cottage is a store with something for every action.
type cottage struct {
	*cleaned
	leaks, leaking, junk, old, young, indexed, asks, goal memory.ID
}

func newCottage(t *testing.T) *cottage {
	t.Helper()
	c := &cottage{cleaned: newCleaned(t)}
	c.leaks = c.put(leaks, map[string]string{"has_implementation": "true", "chunk_type": `"metadata"`, "entity_name": `"Kettle"`})
	c.leaking = c.put(leaking, nil)
	c.junk = c.put("asdf test test", nil)
	c.old, c.young = c.put("The build runs on Python 2.7", nil), c.put("The build runs on Python 3.12", nil)
	c.indexed = c.put(leaks+" It does.", map[string]string{"file_path": `"/src/kettle.py"`})
	c.asks, c.goal = c.put("Who mends kettles?", nil), c.put("The kitchen is to be dry", nil)
	relate(t, c.e, c.asks, c.leaks, "related")
	relate(t, c.e, c.leaking, c.goal, "causes")
	relate(t, c.e, c.indexed, c.leaks, "supports")
	c.ms.Add(time.Minute.Milliseconds())
	return c
}

func (c *cottage) actions() []cleanupplan.Action {
	merge := action(op.CleanupMerge, c.leaks, c.leaking)
	merge.HasImplementation = true
	versions := action(op.CleanupHierarchy, c.old, c.young)
	versions.Keep, versions.Strategy = c.young, "version"
	versions.Links = []cleanupplan.Link{{From: c.young, To: c.old, Kind: "version", Value: "python 2.7"}}
	return []cleanupplan.Action{versions, merge, action(op.CleanupDelete, c.junk)}
}

func TestCleanupIsCarriedOut(t *testing.T) {
	t.Parallel()
	c := newCottage(t)
	before := c.all()
	run := c.run(c.actions()...)
	if run.State != op.CleanupDone || run.Tx == "" || run.Backup == "" || len(run.Actions) != 3 {
		t.Fatalf("the run is %+v", run)
	}
	for _, a := range run.Actions {
		if !a.Done || a.Problem != "" {
			t.Errorf("not done: %+v", a)
		}
	}
	c.wantMerged(run.Actions[1].Into)
	if !c.e.Stm.Trashed(c.junk) {
		t.Error("the junk is not in the trash")
	}
	res := do(t, c.e, op.Show, &op.ShowRequest{ID: string(c.young), Track: new(false)})
	if out := res.Relations.Outgoing; len(out) != 1 || out[0].To != c.old || out[0].Kind != "version" || string(out[0].Metadata["value"]) != `"python 2.7"` {
		t.Errorf("the versions are related as %+v", out)
	}
	journal := do(t, c.e, op.Journal, &op.JournalRequest{Limit: 2})
	if journal.Entries[0].Tx != run.Tx || journal.Entries[0].Verb != "cleanup" || journal.Entries[1].Verb == "cleanup" {
		t.Errorf("the journal tells %+v", journal.Entries)
	}
	undone := do(t, c.e, op.Undo, &op.UndoRequest{})
	if undone.Entry.Tx != run.Tx {
		t.Fatalf("undid %+v", undone.Entry)
	}
	c.wantAll(before)
	history := do(t, c.e, op.CleanupHistory, &op.CleanupHistoryRequest{})
	if len(history.Runs) != 1 || history.Runs[0].State != op.CleanupRolledBack || history.Runs[0].RolledBack != "emberd undo "+
		"reverted the changes of the run" {
		t.Errorf("the history tells %+v", history.Runs)
	}
	wantCode(t, refused(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{Run: run.ID}), memory.Conflict, "emberd undo already reverted run")
}

// wantMerged wants the merged memory to have all that its parts had.
func (c *cottage) wantMerged(into memory.ID) {
	c.t.Helper()
	row, live := c.e.Stm.Get(into)
	if !live {
		c.t.Fatal("there is no merged memory")
	}
	fields := row.Fields()
	for key, want := range map[string]string{"has_implementation": "true", "chunk_type": `"metadata"`, "entity_name": `"Kettle"`} {
		if string(fields[key]) != want {
			c.t.Errorf("%s of the merged memory is %s", key, fields[key])
		}
	}
	res := do(c.t, c.e, op.Show, &op.ShowRequest{ID: string(into), Track: new(false)})
	var ends []memory.ID
	for _, r := range slices.Concat(res.Relations.Outgoing, res.Relations.Incoming) {
		ends = append(ends, r.From, r.To)
	}
	for _, id := range []memory.ID{c.goal, c.asks, c.indexed} {
		if !slices.Contains(ends, id) {
			c.t.Errorf("the merged memory has no relation with %s: %+v", id, res.Relations)
		}
	}
}

// A run that was killed after the log had all of it, and before anybody noted that,
// finds its journal entry and does nothing twice.
func TestCleanupGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	for _, next := range []int{0, 1, 3} {
		c := newCottage(t)
		before := c.all()
		done := c.run(c.actions()...)
		after := c.all()
		run, err := c.e.Cleanup.Cleanups.Folder.Find(done.ID, nil)
		ok(t, err)
		run.Phase, run.State, run.Tx, run.Next = runstore.Execute, op.CleanupRunning, "", next
		ok(t, c.e.Cleanup.Cleanups.Folder.Save(run))
		wantCode(t, refused(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true}), memory.Conflict, "to revert it, run: emberd health cleanup rollback")
		c.reopen()
		if left := c.e.Cleanup.GoOn(t.Context(), c.e.Cleanup.LeftRuns()); len(left) > 0 {
			t.Fatalf("left are %v: %s", left, c.e.Chores.Problem("cleanup run "+left[0]))
		}
		run, err = c.e.Cleanup.Cleanups.Folder.Find(done.ID, nil)
		ok(t, err)
		if run.State != op.CleanupDone || run.Tx != done.Tx || len(run.Problems) > 0 {
			t.Errorf("from %d on it is %+v", next, run)
		}
		c.wantAll(after)
		do(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{})
		c.wantAll(before)
	}
}

// Whoever gives up leaves a run that can be gone on with, or taken back.
func TestCleanupIsBrokenOff(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"resume", "roll back", "undo"} {
		c := newCottage(t)
		before := c.all()
		ctx, cancel := context.WithCancel(t.Context())
		steps := c.actions()
		c.plan = func(p *runstore.Plan) {
			steps[1].Into = newID(t)
			p.Actions = steps
		}
		tell := func(done, _ int) {
			if done > cleanup.ProgressMeasured && done < cleanup.ProgressDone {
				cancel()
			}
		}
		_, err := op.Cleanup.Call(op.WithProgress(ctx, tell), c.e, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
		if err == nil || !strings.Contains(err.Error(), "was interrupted after 1 actions") {
			t.Fatalf("it ended with %v", err)
		}
		run, err := c.e.Cleanup.Cleanups.Folder.Find("", func(*runstore.Run) bool { return true })
		ok(t, err)
		if run.State != op.CleanupBrokenOff || run.Tx == "" {
			t.Errorf("the run is %+v", run)
		}
		if then == "undo" { // there is no going on in an entry that was taken back
			do(t, c.e, op.Undo, &op.UndoRequest{Tx: run.Tx})
			res := do(t, c.e, op.Cleanup, &op.CleanupRequest{Resume: run.ID})
			if res.State != op.CleanupRolledBack || !strings.Contains(res.RolledBack, "emberd undo") {
				t.Errorf("after an undo it is %+v", res)
			}
			c.wantAll(before)
			continue
		}
		if then == "roll back" {
			res := do(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{})
			if res.Run.State != op.CleanupRolledBack || res.Run.ID != run.ID {
				t.Errorf("got %+v", res.Run)
			}
			c.wantAll(before)
			continue
		}
		res := do(t, c.e, op.Cleanup, &op.CleanupRequest{Resume: run.ID[:18]})
		if res.State != op.CleanupDone || res.Tx != run.Tx {
			t.Errorf("got %+v", res)
		}
		c.wantMerged(steps[1].Into)
		do(t, c.e, op.Undo, &op.UndoRequest{Tx: run.Tx})
		c.wantAll(before)
	}
}

// Whatever a plan says, some memories are not touched.
func TestCleanupLeavesAlone(t *testing.T) {
	t.Parallel()
	c := newCottage(t)
	core := do(t, c.e, op.Save, &op.SaveRequest{Content: "The boiler is in the cellar", Core: true}).Memory.ID
	meta := do(t, c.e, op.Save, &op.SaveRequest{Content: "func Kettle()", Meta: map[string]json.RawMessage{"chunk_index": json.RawMessage("0")}}).Memory.ID
	c.ms.Add(time.Minute.Milliseconds())
	before := c.all()
	c.Cleanup.Policy.Delete = 0
	run := c.run(action(op.CleanupDelete, core), action(op.CleanupDelete, c.indexed), action(op.CleanupDelete, meta),
		action(op.CleanupMerge, c.leaks, c.indexed), action(op.CleanupDelete, newID(t)))
	for i, why := range []string{"a cleanup does not change core memories", "an indexer created", "an indexer created", "an indexer created", "deleted in the meantime"} {
		if a := run.Actions[i]; a.Done || !strings.Contains(a.Problem, why) {
			t.Errorf("action %d is %+v", i, a)
		}
	}
	if !c.e.Stm.Trashed(core) && before[core] == c.all()[core] {
		t.Error("nobody kept what the core memory was judged to be worth")
	}
	for _, id := range []memory.ID{c.indexed, meta} {
		if got := c.all()[id]; got != before[id] {
			t.Errorf("what has fields of an index was changed to\n%s", got)
		}
	}
}

// What somebody uses while a run is under way is his.
func TestCleanupLeavesWhatIsUsed(t *testing.T) {
	t.Parallel()
	c := newCottage(t)
	used := action(op.CleanupDelete, c.junk)
	c.plan = func(p *runstore.Plan) {
		p.Actions = []cleanupplan.Action{used}
		c.ms.Add(time.Second.Milliseconds())
		do(t, c.e, op.Touch, &op.TouchRequest{ID: string(c.junk)})
	}
	run := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
	if a := run.Actions[0]; a.Done || !strings.Contains(a.Problem, "the memory was used or changed in the meantime") {
		t.Errorf("got %+v", a)
	}
}

// What is edited meanwhile is left also if the clock was set back, and nothing takes the
// place of it.
func TestCleanupLeavesWhatIsEdited(t *testing.T) {
	t.Parallel()
	c := newCleaned(t)
	c.put("The gate of the mill is 14 feet wide", nil)
	c.ms.Add(time.Hour.Milliseconds())
	late := c.put("The gate of the mill is 15 feet wide", nil)
	junk := c.put("asdf test test", nil)
	for i := range 8 {
		c.put(strings.Repeat("The "+string(rune('a'+i))+"ardvark of the harbour sleeps. ", i+1), nil)
	}
	c.ms.Add(time.Hour.Milliseconds())
	c.plan = func(*runstore.Plan) {
		c.ms.Add(-30 * time.Minute.Milliseconds())
		for _, id := range []memory.ID{junk, late} {
			do(t, c.e, op.Edit, &op.EditRequest{ID: string(id), Content: new("Once upon a time there was a whale")})
		}
	}
	run := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull, Execute: true})
	for _, a := range run.Actions {
		if (slices.Contains(a.MemoryIDs, junk) || slices.Contains(a.MemoryIDs, late)) && (a.Done || !strings.Contains(a.Problem, "in the meantime") && !strings.Contains(a.Problem, "has changed since the cleanup read it")) {
			t.Errorf("got %+v", a)
		}
	}
	if run.Counts[op.CleanupDelete] != 1 || run.Counts[op.CleanupHierarchy] != 1 {
		t.Errorf("planned were %v, and the test wants a deletion and a hierarchy", run.Counts)
	}
}

func TestCleanupRefuses(t *testing.T) {
	t.Parallel()
	c := newCottage(t)
	for _, r := range []struct {
		op.CleanupRequest
		code memory.Code
		says string
	}{
		{op.CleanupRequest{}, memory.Invalid, "missing collection; use a collection name, or all"},
		{op.CleanupRequest{Collection: "knowledge", Mode: "deep"}, memory.Invalid, "use analysis or full"},
		{op.CleanupRequest{Collection: "knowledge", Execute: true}, memory.Invalid, "execute requires mode full"},
		{op.CleanupRequest{Collection: "knowledge", Mode: "analysis", Execute: true}, memory.Invalid, "execute requires mode full"},
		{op.CleanupRequest{Collection: "attic"}, memory.NotFound, "attic"},
		{op.CleanupRequest{Resume: "2026"}, memory.NotFound, "not found; run: emberd health cleanup history"},
		{op.CleanupRequest{Resume: "2026", Execute: true}, memory.Invalid, "resume and other options cannot be combined; omit the other options"},
	} {
		wantCode(t, refused(t, c.e, op.Cleanup, &r.CleanupRequest), r.code, r.says)
	}
	wantCode(t, refused(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{}), memory.NotFound, "no cleanup runs yet; run: emberd health cleanup -c COLLECTION")
	wantCode(t, refused(t, c.e, op.CleanupReport, &op.CleanupReportRequest{}), memory.NotFound, "no cleanup runs yet; run: emberd health cleanup -c COLLECTION")
	dry := do(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "knowledge", Mode: op.CleanupFull})
	if dry.State != op.CleanupDryRun || dry.Backup != "" || dry.Tx != "" {
		t.Errorf("the dry run is %+v", dry)
	}
	wantCode(t, refused(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{Run: dry.ID}), memory.Conflict, "was a dry run")
	wantCode(t, refused(t, c.e, op.Cleanup, &op.CleanupRequest{Resume: dry.ID}), memory.Conflict, "and cannot be resumed; start a new run")

	end, err := c.e.Cleanup.Cleanups.Begin()
	ok(t, err)
	wantCode(t, refused(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "knowledge"}), memory.Busy, "a cleanup run is in progress; run: emberd health cleanup history")
	wantCode(t, refused(t, c.e, op.CleanupRollback, &op.CleanupRollbackRequest{}), memory.Busy, "a cleanup run is in progress; run: emberd health cleanup history")
	end()
	c.Cleanup.Enabled = false
	c.reopen()
	wantCode(t, refused(t, c.e, op.Cleanup, &op.CleanupRequest{Collection: "knowledge", Mode: op.CleanupFull, Execute: true}), memory.Invalid, "cleanup.enabled")
}

// Where there is a vault the parts of a merge are archived in it, and the report is a note.
func TestCleanupWithAVault(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.Storage.BuildIndex(t.Context())
	one, other, junk := save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID, save(t, d.Engine, "asdf test").ID
	d.ms.Add(time.Minute.Milliseconds())
	into := newID(t)
	merge := action(op.CleanupMerge, one, other)
	slices.Sort(merge.MemoryIDs)
	merge.Into = into
	d.Opt.Cleanup.Tampered = func(p *runstore.Plan) { p.Actions = []cleanupplan.Action{merge, action(op.CleanupDelete, junk)} }
	run := do(t, d.Engine, op.Cleanup, &op.CleanupRequest{Collection: "knowledge", Mode: op.CleanupFull, Execute: true})
	if run.State != op.CleanupDone || !strings.HasPrefix(run.Report, "Memories/Archive/Cleanup/") || !slices.Contains(d.files(t), run.Report) {
		t.Fatalf("the run is %+v", run)
	}
	for _, id := range []memory.ID{one, other} {
		if m := look(t, d.Engine, id); m.Stage != memory.Archived || m.ConsolidatedInto != into {
			t.Errorf("a part is %+v", m)
		}
	}
	if m := look(t, d.Engine, into); len(m.ConsolidatedFrom) != 2 || m.ConsolidatedFrom[0] != merge.MemoryIDs[0] {
		t.Errorf("the merged memory is %+v", m)
	}
	tells := func(when string) {
		t.Helper()
		left := do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(one), DryRun: true}).Left
		if !slices.ContainsFunc(left, func(l op.PurgeLeft) bool { return l.Kind == "note" && l.Place == run.Report }) {
			t.Errorf("%s a purge says nothing of %s: %+v", when, run.Report, left)
		}
	}
	tells("after the run")
	res := do(t, d.Engine, op.CleanupRollback, &op.CleanupRollbackRequest{})
	if res.Run.State != op.CleanupRolledBack {
		t.Errorf("got %+v", res.Run)
	}
	tells("rolled back")
	for id, text := range map[memory.ID]string{one: leaks, other: leaking, junk: "asdf test"} {
		if m := look(t, d.Engine, id); m.Content != text || m.Stage != memory.Active {
			t.Errorf("it is %+v", m)
		}
	}
}

// A merge that is refused leaves no note of its parts: of none that would make a credential,
// and of none of which a part was used meanwhile.
func TestCleanupKeepsNoPartsOfARefusedMerge(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	d.Storage.BuildIndex(t.Context())
	head, tail := manifest()
	secret := action(op.CleanupMerge, save(t, d.Engine, head).ID, save(t, d.Engine, tail).ID)
	used := action(op.CleanupMerge, save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID)
	d.ms.Add(time.Minute.Milliseconds())
	d.Opt.Cleanup.Tampered = func(p *runstore.Plan) {
		for _, merge := range []*cleanupplan.Action{&secret, &used} {
			slices.Sort(merge.MemoryIDs)
			merge.Into = newID(t)
		}
		p.Actions = []cleanupplan.Action{secret, used}
		seen := p.Seen[used.MemoryIDs[1]]
		seen.Used = seen.Used.Add(-time.Second)
		p.Seen[used.MemoryIDs[1]] = seen
	}
	run := do(t, d.Engine, op.Cleanup, &op.CleanupRequest{Collection: "knowledge", Mode: op.CleanupFull, Execute: true})
	if run.State != op.CleanupDone {
		t.Fatalf("the run is %+v", run)
	}
	for _, id := range slices.Concat(secret.MemoryIDs, used.MemoryIDs) {
		wantStage(t, d.Engine, id, memory.Active)
	}
	wantFiles(t, d.house, run.Report)
}

// A cleanup that is requested while the index is being built, as after a start, waits for it.
func TestACleanupWaitsForTheIndex(t *testing.T) {
	h := newHouse(t)
	e := h.open(t)
	save(t, e, "The harbour office closes at six")
	started, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(started)
		_, err := op.Cleanup.Call(t.Context(), e, &op.CleanupRequest{Collection: "knowledge", Mode: op.CleanupFull,
			Execute: true})
		done <- err
	}()
	<-started
	e.Storage.BuildIndex(t.Context())
	ok(t, <-done)
}
