package cleanup

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/internal/cleanup/quality"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
)

// indexPatience is how long a cleanup waits for the keyword index.
const indexPatience = 10 * time.Second

// Cleanups are the cleanup runs of this device.
type Cleanups struct {
	Folder *runstore.Folder
	cache  string // file with the answers of models
	// running is held through a run. It is taken with TryLock only, so that a second run fails
	// instead of waiting.
	running sync.Mutex
	wake    chan struct{}

	mu   sync.Mutex // guards the field below
	next time.Time  // when a run is due, zero for none
}

// NewCleanups returns the cleanup runs in the state folder.
func NewCleanups(opt *core.Options) *Cleanups {
	path := filepath.Join(opt.State, "cleanup")
	c := &Cleanups{Folder: runstore.NewFolder(opt.FS, path), cache: filepath.Join(path, "scores.jsonl"),
		wake: make(chan struct{}, 1)}
	if err := c.Folder.Sweep(); err != nil {
		opt.Logger.Warn("incomplete files of the cleanup not removed", "err", err)
	}
	return c
}

// Begin starts a run and returns the function that ends it. It returns an error of code Busy
// if a run is in progress.
func (c *Cleanups) Begin() (end func(), err error) {
	if !c.running.TryLock() {
		return nil, memory.Errorf(memory.Busy, "a cleanup run is in progress; run: emberd health cleanup history")
	}
	return c.running.Unlock, nil
}

// Cleanup starts a run, or resumes one, and runs it to its end.
func (e *Cleanup) Cleanup(ctx context.Context, req *op.CleanupRequest) (*op.CleanupRun, error) {
	end, err := e.Cleanups.Begin()
	if err != nil {
		return nil, err
	}
	defer end()
	if req.Execute || req.Resume != "" {
		e.awaitIndex(ctx)
	}
	var run *runstore.Run
	if req.Resume != "" {
		run, err = e.runToResume(req)
	} else {
		run, err = e.newCleanup(ctx, req)
	}
	if err == nil && run.Executing {
		err = e.checkCleanupAllowed()
	}
	if err != nil {
		return nil, err
	}
	if err := e.runToEnd(ctx, run); err != nil {
		return nil, err
	}
	return e.shownRun(run)
}

func (e *Cleanup) newCleanup(ctx context.Context, req *op.CleanupRequest) (*runstore.Run, error) {
	mode := cmp.Or(req.Mode, op.CleanupAnalysis)
	switch {
	case req.Collection == "":
		return nil, memory.Errorf(memory.Invalid, "missing collection; use a collection name, or all").At("collection")
	case !slices.Contains([]string{op.CleanupAnalysis, op.CleanupFull}, mode):
		return nil, memory.Errorf(memory.Invalid, "invalid mode %.20q; use analysis or full", mode).At("mode")
	case req.Execute && mode == op.CleanupAnalysis:
		return nil, memory.Errorf(memory.Invalid,
			"execute requires mode full").At("execute")
	}
	if err := e.checkCleanupOf(req.Collection); err != nil {
		return nil, err
	}
	if req.Execute {
		// Before the run is on disk: a later start would resume what was refused.
		if err := core.FirstError(e.checkCleanupAllowed(), e.checkNoneUnfinished()); err != nil {
			return nil, err
		}
	}
	return e.beginRun(op.CallerFrom(ctx), req.Collection, mode, req.Execute, req.Incremental)
}

// checkCleanupOf returns an error if the collection does not exist.
func (e *Cleanup) checkCleanupOf(collection string) error {
	if collection == core.EveryCollection {
		return nil
	}
	return core.CheckCollection(&e.Stm.MemorySet, collection)
}

// beginRun creates a run on disk.
func (e *Cleanup) beginRun(by memory.Actor, collection, mode string, executing,
	incremental bool) (*runstore.Run, error) {
	now := core.StampTime(e.Opt.Now())
	run := &runstore.Run{Phase: runstore.Begin, By: by, Executing: executing, Incremental: incremental,
		CleanupRun: op.CleanupRun{ID: runstore.NewID(now), Collection: collection, Mode: mode, State: op.CleanupRunning,
			Started: now,
			Counts:  map[string]int{}, Scorer: quality.ByHeuristic}}
	return run, e.Cleanups.Folder.Save(run)
}

// awaitIndex waits until the keyword index is complete, a moment after each start of the daemon. It gives up after
// indexPatience and leaves the error to checkCleanupAllowed.
func (e *Cleanup) awaitIndex(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !e.Indexed.Load() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// checkCleanupAllowed returns an error if changes are turned off, or cannot be validated now.
func (e *Cleanup) checkCleanupAllowed() error {
	switch {
	case !e.Opt.Cleanup.Enabled:
		return memory.Errorf(memory.Invalid, "cleanup.enabled is false, so a cleanup only creates a "+
			"report; omit execute, or set cleanup.enabled to true")
	case !e.Indexed.Load():
		return memory.Errorf(memory.Busy,
			"a cleanup requires the keyword index, which emberd is still building; try again in a moment")
	case e.Notes.Vault != nil && e.Notes.VaultUnavailable() != "":
		return memory.Errorf(memory.Busy, "cannot run a cleanup now: %s", e.Notes.VaultUnavailable())
	}
	return nil
}

// checkNoneUnfinished returns an error if an earlier run has changed something and has not ended.
func (e *Cleanup) checkNoneUnfinished() error {
	runs, err := e.Cleanups.Folder.Runs()
	for i := range runs {
		if id := runs[i].ID; runs[i].Changing() {
			return memory.Errorf(memory.Conflict, "run %s was interrupted after it changed memories; to continue, "+
				"run: emberd health cleanup --resume %s; to revert it, run: emberd health cleanup rollback %s", id, id,
				id)
		}
	}
	return err
}

// runToResume returns a run that can be resumed.
func (e *Cleanup) runToResume(req *op.CleanupRequest) (*runstore.Run, error) {
	if req.Collection != "" || req.Mode != "" || req.Execute || req.Incremental {
		return nil, memory.Errorf(memory.Invalid,
			"resume and other options cannot be combined; omit the other options").At("resume")
	}
	run, err := e.Cleanups.Folder.Find(req.Resume, func(*runstore.Run) bool { return false })
	switch {
	case err != nil:
		return nil, err
	case run.Phase == runstore.Ended:
		return nil, memory.Errorf(memory.Conflict, "run %s is complete (%s) and cannot be resumed; start a new run",
			run.ID, run.State).At("resume")
	case run.Executing && !run.Changing():
		err = e.checkNoneUnfinished()
	}
	run.State, run.Problem = op.CleanupRunning, ""
	run.Restarts++
	return run, err
}

// CleanupReport returns a run with its report.
func (e *Cleanup) CleanupReport(_ context.Context, req *op.CleanupReportRequest) (*op.CleanupReportResult, error) {
	run, err := e.Cleanups.Folder.Find(req.Run, func(*runstore.Run) bool { return true })
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

// CleanupRollback rolls back a run.
func (e *Cleanup) CleanupRollback(ctx context.Context,
	req *op.CleanupRollbackRequest) (*op.CleanupRollbackResult, error) {
	end, err := e.Cleanups.Begin()
	if err != nil {
		return nil, err
	}
	defer end()
	run, err := e.Cleanups.Folder.Find(req.Run, func(r *runstore.Run) bool { return r.Changing() || e.inEffect(r) })
	if err != nil {
		return nil, err
	}
	if err := e.checkRollbackAllowed(run); err != nil {
		return nil, err
	}
	run.RolledBack = cmp.Or(run.RolledBack, "a user requested the rollback")
	undone, err := e.undoRun(ctx, run, req.Force)
	if err != nil {
		return nil, err
	}
	// It is undone, and that is recorded and told in the vault even if the caller has gone.
	if err := e.endRun(context.WithoutCancel(ctx), run, op.CleanupRolledBack); err != nil {
		return nil, err
	}
	shown, err := e.shownRun(run)
	return &op.CleanupRollbackResult{Run: *shown, Undo: *undone}, err
}

// inEffect reports whether a run changed something that is in force: it was not undone, or an undo of the
// undo restored it.
func (e *Cleanup) inEffect(r *runstore.Run) bool {
	return r.Tx != "" && (r.State == op.CleanupDone && !e.Stm.Undone(r.Tx) ||
		r.State == op.CleanupRolledBack && r.Phase == runstore.Ended && e.Stm.InForce(r.Tx))
}

func (e *Cleanup) checkRollbackAllowed(run *runstore.Run) error {
	switch {
	case run.Changing() || e.inEffect(run):
		return nil
	case !run.Executing:
		return memory.Errorf(memory.Conflict, "run %s was a dry run and changed nothing", run.ID).At("run")
	case run.State == op.CleanupDone && run.Tx == "":
		return memory.Errorf(memory.Conflict, "run %s found nothing to do and changed nothing", run.ID).At("run")
	case run.State == op.CleanupDone:
		return memory.Errorf(memory.Conflict, "emberd undo already reverted run %s", run.ID).At("run")
	case run.Phase == runstore.Begin:
		return memory.Errorf(memory.Conflict, "run %s was interrupted before it changed anything", run.ID).At("run")
	}
	return memory.Errorf(memory.Conflict, "run %s is already rolled back", run.ID).At("run")
}

// CleanupHistory returns the runs.
func (e *Cleanup) CleanupHistory(_ context.Context, req *op.CleanupHistoryRequest) (*op.CleanupHistoryResult, error) {
	limit := cmp.Or(req.Limit, memories.DefaultPage)
	if err := memory.CheckRange("limit", float64(limit), 1, maxShownRuns); err != nil {
		return nil, err
	}
	runs, err := e.Cleanups.Folder.Runs()
	if err != nil && len(runs) == 0 {
		return nil, err
	}
	res := &op.CleanupHistoryResult{Runs: []op.CleanupRun{}}
	for i := range runs[:min(limit, len(runs))] {
		e.markUndone(&runs[i])
		res.Runs = append(res.Runs, runs[i].CleanupRun)
	}
	return res, nil
}

const maxShownRuns = 1000

// markUndone marks a run as rolled back if emberd undo reverted it, and as done if emberd undo reverted its
// rollback.
func (e *Cleanup) markUndone(run *runstore.Run) {
	switch {
	case e.inEffect(run):
		run.State, run.RolledBack = op.CleanupDone, ""
	case run.State == op.CleanupDone && run.Tx != "":
		run.State, run.RolledBack = op.CleanupRolledBack, "emberd undo reverted the changes of the run"
	}
	if run.State == op.CleanupRolledBack {
		run.After = run.Entries
	}
}

// shownActions is how many actions an answer has; the report has all.
const shownActions = 1000

// shownRun returns a run with the outcomes of its actions.
func (e *Cleanup) shownRun(run *runstore.Run) (*op.CleanupRun, error) {
	shown := *run
	e.markUndone(&shown)
	plan, err := e.Cleanups.Folder.Plan(run.ID)
	shown.Actions = outcomes(&shown, plan)
	shown.Actions = shown.Actions[:min(shownActions, len(shown.Actions))]
	return &shown.CleanupRun, err
}

// countActions counts the actions of a plan by outcome.
func countActions(run *runstore.Run, plan *runstore.Plan) {
	run.Counts = make(map[string]int)
	for _, a := range outcomes(run, plan) {
		run.Counts[a.Action]++
	}
}

// outcomes returns the actions of a plan with their outcomes. A text that was not reworded
// goes to review.
func outcomes(run *runstore.Run, plan *runstore.Plan) []op.CleanupAction {
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
