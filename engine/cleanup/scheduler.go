package cleanup

import (
	"context"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/internal/cleanup/runstore"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// cleanupFirst is how long after its start a daemon waits before a scheduled run.
	cleanupFirst = 10 * time.Minute
	// cleanupTry is how long an interrupted run waits before it is resumed; the wait doubles
	// each time, up to cleanupLast.
	cleanupTry  = 100 * time.Millisecond
	cleanupLast = 5 * time.Minute
)

const CleanupJob = "cleanup"

// CleanupActor returns the actor of scheduled runs.
func CleanupActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: CleanupJob} }

// Task resumes the interrupted runs of an earlier daemon, and starts those that are due.
// Without either it has no timer.
func (e *Cleanup) Task() *core.Task {
	left, wait := e.LeftRuns(), cleanupTry
	return &core.Task{Name: CleanupJob, First: e.Opt.Now(), Wake: e.Cleanups.wake,
		Woken: func(time.Time) time.Time {
			left = append(left, e.runsToRollBack(left)...)
			return e.Opt.Now()
		},
		Do: func(ctx context.Context) time.Time {
			if left = e.GoOn(ctx, left); len(left) == 0 && e.CleanupDue() {
				e.CleanByItself(ctx)
			}
			at := e.planCleaning(len(left) > 0, wait)
			if wait = min(2*wait, cleanupLast); len(left) == 0 {
				wait = cleanupTry
			}
			return at
		}}
}

// planCleaning returns when there is work: after wait if runs are left.
func (e *Cleanup) planCleaning(left bool, wait time.Duration) time.Time {
	now, next := e.Opt.Now(), e.NextCleanup()
	e.Cleanups.mu.Lock()
	e.Cleanups.next = next
	e.Cleanups.mu.Unlock()
	switch {
	case left:
		return now.Add(wait)
	case next.IsZero():
		return next
	}
	return now.Add(min(max(next.Sub(now), time.Minute), lifecycle.LooksAgain))
}

// LeftRuns returns the runs that an earlier daemon did not finish.
func (e *Cleanup) LeftRuns() (left []string) {
	runs, err := e.Cleanups.Folder.Runs()
	e.Chores.Settle("reading and writing the list of cleanup runs", err)
	for i := range runs {
		switch run := &runs[i]; {
		case run.Changing() || run.Executing && run.State == op.CleanupRunning && run.Phase != runstore.Ended:
			left = append(left, run.ID)
		case run.State == op.CleanupRunning: // a dry run needs no resume
			run.State, run.Problem = op.CleanupBrokenOff, "the daemon stopped"
			e.Chores.Settle("reading and writing the list of cleanup runs", e.Cleanups.Folder.Save(run))
		}
	}
	return left
}

// runsToRollBack returns further runs that must be rolled back and could not be.
func (e *Cleanup) runsToRollBack(besides []string) (left []string) {
	runs, err := e.Cleanups.Folder.Runs()
	e.Chores.Settle("reading and writing the list of cleanup runs", err)
	for i := range runs {
		known := false
		for _, id := range besides {
			known = known || id == runs[i].ID
		}
		if runs[i].Phase == runstore.Rollback && !known {
			left = append(left, runs[i].ID)
		}
	}
	return left
}

// GoOn runs them to their end and returns those that cannot continue now.
func (e *Cleanup) GoOn(ctx context.Context, left []string) (still []string) {
	for _, id := range left {
		err := e.resumeRun(ctx, id)
		if ctx.Err() != nil {
			return nil
		}
		switch memory.CodeOf(err) {
		case memory.Conflict, memory.NotFound: // the user has handled it
			err = nil
		}
		e.Chores.Settle("cleanup run "+id, err)
		if err != nil {
			still = append(still, id)
		}
	}
	return still
}

// resumeRun resumes one run. If cleanups have been turned off since, it rolls the run back.
func (e *Cleanup) resumeRun(ctx context.Context, id string) error {
	end, err := e.Cleanups.Begin()
	if err != nil {
		return err
	}
	defer end()
	run, err := e.runToResume(&op.CleanupRequest{Resume: id})
	if err != nil {
		return err
	}
	switch {
	case e.Opt.Cleanup.Enabled:
		err = e.checkCleanupAllowed()
	case run.Changing():
		run.Phase, run.RolledBack = runstore.Rollback, "cleanup.enabled is false now"
	default:
		return e.endRun(ctx, run, op.CleanupBrokenOff)
	}
	if err != nil {
		return err
	}
	e.Opt.Logger.Info("cleanup resumed", "run", run.ID, "phase", run.Phase, "done", run.Next)
	return e.runToEnd(op.WithCaller(ctx, run.By), run)
}

// CleanupDue reports whether a scheduled run is due on this device.
func (e *Cleanup) CleanupDue() bool {
	next := e.NextCleanup()
	return !next.IsZero() && !next.After(e.Opt.Now()) && e.Lifecycle.IsPrimary()
}

// NextCleanup returns when the next scheduled run is due, zero for never. A manual run over
// all collections counts, however it ended.
func (e *Cleanup) NextCleanup() time.Time {
	every := e.Opt.Cleanup.Every
	if every == 0 || !e.Opt.Cleanup.Enabled {
		return time.Time{}
	}
	next := e.Started.Add(cleanupFirst)
	if !e.Lifecycle.IsPrimary() && next.Before(e.Opt.Now()) {
		return e.Opt.Now().Add(lifecycle.LooksAgain)
	}
	// An unreadable run can only make the next one earlier.
	runs, _ := e.Cleanups.Folder.Runs()
	for i := range runs {
		r := &runs[i]
		if at := r.Started.Add(every); r.Executing && r.Collection == core.EveryCollection && at.After(next) {
			next = at
		}
	}
	return next
}

// CleanByItself starts a scheduled run.
func (e *Cleanup) CleanByItself(ctx context.Context) {
	err := e.checkCleanupAllowed()
	if err == nil {
		_, err = e.Cleanup(op.WithCaller(ctx, CleanupActor()), &op.CleanupRequest{Collection: core.EveryCollection,
			Mode: op.CleanupFull, Execute: true, Incremental: true})
	}
	if ctx.Err() == nil {
		e.Chores.Settle(CleanupJob, err)
	}
}

// CleaningJob returns the job of scheduled cleanups for status.
func (e *Cleanup) CleaningJob() op.Job {
	job := op.Job{Name: CleanupJob, Problem: e.Chores.Problem(CleanupJob)}
	if e.Opt.Cleanup.Every == 0 {
		job.Note = "the cleanup runs only on request; to run the cleanup automatically, set cleanup.schedule"
	}
	e.Cleanups.mu.Lock()
	next := e.Cleanups.next
	e.Cleanups.mu.Unlock()
	if !next.IsZero() && e.Lifecycle.IsPrimary() {
		job.Next = core.StampTime(next)
	}
	return job
}
