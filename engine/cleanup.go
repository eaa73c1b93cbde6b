package engine

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/cleanrun"
	"emberd/internal/cleanup"
	"emberd/internal/quality"
	"emberd/memory"
	"emberd/op"
)

// Cleanup says how collections are cleaned up. Policy is what becomes of what was found.
type Cleanup struct {
	Enabled   bool          // otherwise runs only report
	Every     time.Duration // the keeper cleans up all collections so often by itself, 0 never
	Threshold float64       // similarity from which memories are of one cluster, 0 to 1
	Policy    cleanup.Policy
	// Worse is how much of its accuracy search may lose before a run is rolled back, 0 to 1.
	Worse float64
	// Queries is a file of searches whose answers have to stay, one a line, "" for none.
	Queries string
	Ask     quality.Ask // a model that judges beside the rules; nil for none
	Model   string      // its name
	Calls   int         // most questions to it in a run

	tampered func(*cleanrun.Plan) // of tests: what a planner with a fault would plan
	batch    int                  // memories that a batch locks, 0: batchMemories
}

// DefaultCleanup is what the specification says.
func DefaultCleanup() Cleanup {
	return Cleanup{Enabled: true, Threshold: 0.85, Policy: cleanup.DefaultPolicy(), Worse: 0.2, Calls: 100}
}

// cleanups are the runs of this device.
type cleanups struct {
	folder  *cleanrun.Folder
	cache   string     // file of what models answered
	running sync.Mutex // held through a run
	// changing is set while a run writes, and nobody may take its entry back.
	changing atomic.Bool
	wake     chan struct{}

	mu   sync.Mutex // guards what follows
	next time.Time  // when a run is due, zero for none
}

func newCleanups(opt *Options) *cleanups {
	path := filepath.Join(opt.State, "cleanup")
	c := &cleanups{folder: cleanrun.NewFolder(opt.FS, path), cache: filepath.Join(path, "scores.jsonl"), wake: make(chan struct{}, 1)}
	if err := c.folder.Sweep(); err != nil {
		opt.Logger.Warn("unfinished files of the cleanup not removed", "err", err)
	}
	return c
}

// begin keeps a second run out.
func (c *cleanups) begin() (end func(), err error) {
	if !c.running.TryLock() {
		return nil, memory.Errorf(memory.Busy, "a run of the cleanup is under way; emberd cleanup history tells when it is done")
	}
	return c.running.Unlock, nil
}

// cleanup begins a run, or goes on with one, and carries it to its end.
func (e *Engine) cleanup(ctx context.Context, req *op.CleanupRequest) (*op.CleanupRun, error) {
	end, err := e.cleanups.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	var run *cleanrun.Run
	if req.Resume != "" {
		run, err = e.toResume(req)
	} else {
		run, err = e.newCleanup(ctx, req)
	}
	if err == nil && run.Executing {
		err = e.mayCleanUp()
	}
	if err != nil {
		return nil, err
	}
	if err := e.carryRun(ctx, run); err != nil {
		return nil, err
	}
	return e.shownRun(run)
}

func (e *Engine) newCleanup(ctx context.Context, req *op.CleanupRequest) (*cleanrun.Run, error) {
	mode := cmp.Or(req.Mode, op.CleanupAnalysis)
	switch {
	case req.Collection == "":
		return nil, memory.Errorf(memory.Invalid, "collection is missing; name the one to clean up, or all").At("collection")
	case !slices.Contains([]string{op.CleanupAnalysis, op.CleanupFull}, mode):
		return nil, memory.Errorf(memory.Invalid, "mode is %.20q; use analysis or full", mode).At("mode")
	case req.Execute && mode == op.CleanupAnalysis:
		return nil, memory.Errorf(memory.Invalid, "mode analysis only reports, and execute changes something; use mode full with it").At("execute")
	}
	if err := e.checkCleanupOf(req.Collection); err != nil {
		return nil, err
	}
	if req.Execute {
		if err := e.noneUnfinished(); err != nil {
			return nil, err
		}
	}
	return e.beginRun(op.CallerFrom(ctx), req.Collection, mode, req.Execute, req.Incremental)
}

// checkCleanupOf refuses a collection that nothing is in.
func (e *Engine) checkCleanupOf(collection string) error {
	if collection == everyCollection {
		return nil
	}
	return checkCollection(&e.stm.Memories, collection)
}

// beginRun writes down that a run begins.
func (e *Engine) beginRun(by memory.Actor, collection, mode string, executing, incremental bool) (*cleanrun.Run, error) {
	now := stampTime(e.opt.Now())
	run := &cleanrun.Run{Phase: cleanrun.Begin, By: by, Executing: executing, Incremental: incremental,
		CleanupRun: op.CleanupRun{ID: cleanrun.NewID(now), Collection: collection, Mode: mode, State: op.CleanupRunning, Started: now,
			Counts: map[string]int{}, Scorer: quality.ByHeuristic}}
	return run, e.cleanups.folder.Save(run)
}

// mayCleanUp refuses to change anything while that could not be checked or is turned off.
func (e *Engine) mayCleanUp() error {
	switch {
	case !e.opt.Cleanup.Enabled:
		return memory.Errorf(memory.Invalid, "cleanup.enabled is false, so that a cleanup only reports; leave execute out, or change the setting")
	case !e.indexed.Load():
		return memory.Errorf(memory.Busy, "the word index is being built, and without it nobody can tell whether everything is still found; try again in a moment")
	case e.notes != nil && e.vaultAway() != "":
		return memory.Errorf(memory.Busy, "nothing can be cleaned up now: %s", e.vaultAway())
	}
	return nil
}

// noneUnfinished refuses a run while an earlier one has changed something and is not
// through.
func (e *Engine) noneUnfinished() error {
	runs, err := e.cleanups.folder.Runs()
	for i := range runs {
		if id := runs[i].ID; runs[i].Changing() {
			return memory.Errorf(memory.Conflict, "run %s was broken off and has changed something; go on with emberd cleanup --resume %s, or take it back with emberd cleanup rollback %s", id, id, id)
		}
	}
	return err
}

// toResume finds a run that can be gone on with.
func (e *Engine) toResume(req *op.CleanupRequest) (*cleanrun.Run, error) {
	if req.Collection != "" || req.Mode != "" || req.Execute || req.Incremental {
		return nil, memory.Errorf(memory.Invalid, "resume goes on with a run as it was begun; give nothing else with it").At("resume")
	}
	run, err := e.cleanups.folder.Find(req.Resume, func(*cleanrun.Run) bool { return false })
	switch {
	case err != nil:
		return nil, err
	case run.Phase == cleanrun.Ended:
		return nil, memory.Errorf(memory.Conflict, "run %s is over (%s), and there is nothing to go on with; begin another one", run.ID, run.State).At("resume")
	case run.Executing && !run.Changing():
		err = e.noneUnfinished()
	}
	run.State, run.Problem = op.CleanupRunning, ""
	run.Restarts++
	return run, err
}

// cleanupReport shows a run with its report.
func (e *Engine) cleanupReport(_ context.Context, req *op.CleanupReportRequest) (*op.CleanupReportResult, error) {
	run, err := e.cleanups.folder.Find(req.Run, func(*cleanrun.Run) bool { return true })
	if err != nil {
		return nil, err
	}
	shown, err := e.shownRun(run)
	if err != nil {
		return nil, err
	}
	text, err := e.cleanupMarkdown(run, true)
	return &op.CleanupReportResult{Run: *shown, Markdown: text}, err
}

// cleanupRollback takes a run back.
func (e *Engine) cleanupRollback(ctx context.Context, req *op.CleanupRollbackRequest) (*op.CleanupRollbackResult, error) {
	end, err := e.cleanups.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	run, err := e.cleanups.folder.Find(req.Run, func(r *cleanrun.Run) bool { return r.Changing() || e.stands(r) })
	if err != nil {
		return nil, err
	}
	if err := e.mayRollBack(run); err != nil {
		return nil, err
	}
	run.RolledBack = cmp.Or(run.RolledBack, "somebody asked for it")
	undone, err := e.takeBack(ctx, run, req.Force)
	if err != nil {
		return nil, err
	}
	if err := e.endRun(ctx, run, op.CleanupRolledBack); err != nil {
		return nil, err
	}
	shown, err := e.shownRun(run)
	return &op.CleanupRollbackResult{Run: *shown, Undo: *undone}, err
}

// stands reports whether a run changed something that was not taken back.
func (e *Engine) stands(r *cleanrun.Run) bool {
	return r.State == op.CleanupDone && r.Tx != "" && !e.stm.Undone(r.Tx)
}

func (e *Engine) mayRollBack(run *cleanrun.Run) error {
	switch {
	case run.Changing() || e.stands(run):
		return nil
	case !run.Executing:
		return memory.Errorf(memory.Conflict, "run %s was a dry run, and there is nothing to take back", run.ID).At("run")
	case run.State == op.CleanupDone && run.Tx == "":
		return memory.Errorf(memory.Conflict, "run %s found nothing to do, and there is nothing to take back", run.ID).At("run")
	case run.State == op.CleanupDone:
		return memory.Errorf(memory.Conflict, "run %s was taken back before, with emberd undo", run.ID).At("run")
	case run.Phase == cleanrun.Begin:
		return memory.Errorf(memory.Conflict, "run %s was broken off before it changed anything, and there is nothing to take back", run.ID).At("run")
	}
	return memory.Errorf(memory.Conflict, "run %s was rolled back before", run.ID).At("run")
}

// cleanupHistory lists the runs.
func (e *Engine) cleanupHistory(_ context.Context, req *op.CleanupHistoryRequest) (*op.CleanupHistoryResult, error) {
	limit := cmp.Or(req.Limit, defaultPage)
	if err := memory.CheckRange("limit", float64(limit), 1, mostShownRuns); err != nil {
		return nil, err
	}
	runs, err := e.cleanups.folder.Runs()
	if err != nil && len(runs) == 0 {
		return nil, err
	}
	res := &op.CleanupHistoryResult{Runs: []op.CleanupRun{}}
	for i := range runs[:min(limit, len(runs))] {
		e.tellUndone(&runs[i])
		res.Runs = append(res.Runs, runs[i].CleanupRun)
	}
	return res, nil
}

const mostShownRuns = 1000

// tellUndone says of a run that emberd undo took it back.
func (e *Engine) tellUndone(run *cleanrun.Run) {
	if run.State == op.CleanupDone && run.Tx != "" && e.stm.Undone(run.Tx) {
		run.State, run.RolledBack = op.CleanupRolledBack, "emberd undo took it back"
	}
}

// shownActions are listed with a run; the report has all.
const shownActions = 1000

// shownRun is a run with what came of its actions.
func (e *Engine) shownRun(run *cleanrun.Run) (*op.CleanupRun, error) {
	shown := *run
	e.tellUndone(&shown)
	plan, err := e.cleanups.folder.Plan(run.ID)
	shown.Actions = outcomes(run, plan)
	shown.Actions = shown.Actions[:min(shownActions, len(shown.Actions))]
	return &shown.CleanupRun, err
}

// countActions counts the actions of a plan by what comes of them.
func countActions(run *cleanrun.Run, plan *cleanrun.Plan) {
	run.Counts = make(map[string]int)
	for _, a := range outcomes(run, plan) {
		run.Counts[a.Action]++
	}
}

// outcomes are the actions of a plan with what came of each. A text that nobody worded anew
// is for a human to decide about.
func outcomes(run *cleanrun.Run, plan *cleanrun.Plan) []op.CleanupAction {
	out := make([]op.CleanupAction, len(plan.Actions))
	for i := range plan.Actions {
		out[i] = plan.Actions[i].CleanupAction
		out[i].Problem = run.Problems[i]
		if slices.Contains(run.Asked, i) {
			out[i].Action = op.CleanupReview
		}
		tried := i < run.Next && run.Executing && out[i].Action != op.CleanupPreserve
		out[i].Done = tried && out[i].Problem == "" && run.RolledBack == ""
	}
	return out
}
