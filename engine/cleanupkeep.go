package engine

import (
	"context"
	"time"

	"emberd/internal/cleanrun"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	// cleanupFirst is how long after its start a daemon leaves a scheduled run alone.
	cleanupFirst = 10 * time.Minute
	// cleanupTry is how long a run that was broken off waits before it is gone on with
	// again, doubled each time up to cleanupLast.
	cleanupTry  = 100 * time.Millisecond
	cleanupLast = 5 * time.Minute
)

const cleanupJob = "cleanup"

func cleanupActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: cleanupJob} }

// keepCleaning goes on with runs that an earlier daemon was killed in, and begins those
// that are due, until ctx is done. With neither no timer runs.
func (e *Engine) keepCleaning(ctx context.Context) {
	defer e.chores.disarm(cleanupJob)
	left, wait := e.leftRuns(), cleanupTry
	for ctx.Err() == nil {
		if left = e.goOn(ctx, left); len(left) == 0 && e.cleanupDue() {
			e.cleanByItself(ctx)
		}
		timer := e.sleepCleaning(len(left) > 0, wait)
		if wait = min(2*wait, cleanupLast); len(left) == 0 {
			wait = cleanupTry
		}
		select {
		case <-ctx.Done():
		case <-timer:
		case <-e.cleanups.wake:
			left = append(left, e.toRollBack(left)...)
		}
	}
}

// sleepCleaning arms the timer for what is to be done next.
func (e *Engine) sleepCleaning(left bool, wait time.Duration) <-chan time.Time {
	next := e.nextCleanup()
	e.cleanups.mu.Lock()
	e.cleanups.next = next
	e.cleanups.mu.Unlock()
	switch {
	case left:
	case next.IsZero():
		e.chores.disarm(cleanupJob)
		return nil
	default:
		wait = min(max(next.Sub(e.opt.Now()), time.Minute), looksAgain).Round(time.Second)
	}
	e.chores.arm(cleanupJob, wait)
	return time.After(wait)
}

// leftRuns are the runs that an earlier daemon did not come to the end of.
func (e *Engine) leftRuns() (left []string) {
	runs, err := e.cleanups.folder.Runs()
	e.chores.settle("list of cleanup runs", err)
	for i := range runs {
		switch run := &runs[i]; {
		case run.Changing() || run.Executing && run.State == op.CleanupRunning && run.Phase != cleanrun.Ended:
			left = append(left, run.ID)
		case run.State == op.CleanupRunning: // of a dry run nothing is to be kept
			run.State, run.Problem = op.CleanupBrokenOff, "emberd was stopped"
			e.chores.settle("list of cleanup runs", e.cleanups.folder.Save(run))
		}
	}
	return left
}

// toRollBack are the runs, besides some, that are to be rolled back and could not be.
func (e *Engine) toRollBack(besides []string) (left []string) {
	runs, err := e.cleanups.folder.Runs()
	e.chores.settle("list of cleanup runs", err)
	for i := range runs {
		known := false
		for _, id := range besides {
			known = known || id == runs[i].ID
		}
		if runs[i].Phase == cleanrun.Rollback && !known {
			left = append(left, runs[i].ID)
		}
	}
	return left
}

// goOn takes runs to their end and returns those that cannot go on now.
func (e *Engine) goOn(ctx context.Context, left []string) (still []string) {
	for _, id := range left {
		err := e.goOnWith(ctx, id)
		if ctx.Err() != nil {
			return nil
		}
		switch memory.CodeOf(err) {
		case memory.Conflict, memory.NotFound: // somebody saw to it
			err = nil
		}
		e.chores.settle("cleanup run "+id, err)
		if err != nil {
			still = append(still, id)
		}
	}
	return still
}

// goOnWith goes on with one run. If cleanups were turned off meanwhile it is rolled back.
func (e *Engine) goOnWith(ctx context.Context, id string) error {
	end, err := e.cleanups.begin()
	if err != nil {
		return err
	}
	defer end()
	run, err := e.toResume(&op.CleanupRequest{Resume: id})
	if err != nil {
		return err
	}
	switch {
	case e.opt.Cleanup.Enabled:
		err = e.mayCleanUp()
	case run.Changing():
		run.Phase, run.RolledBack = cleanrun.Rollback, "cleanup.enabled is false now"
	default:
		return e.endRun(ctx, run, op.CleanupBrokenOff)
	}
	if err != nil {
		return err
	}
	e.opt.Logger.Info("cleanup goes on", "run", run.ID, "phase", run.Phase, "done", run.Next)
	return e.carryRun(op.WithCaller(ctx, run.By), run)
}

// cleanupDue reports whether it is time for a scheduled run on this device.
func (e *Engine) cleanupDue() bool {
	next := e.nextCleanup()
	return !next.IsZero() && !next.After(e.opt.Now()) && e.isKeeper()
}

// nextCleanup is when a run is due by the schedule, the zero time for never. What was
// begun by hand over all collections counts, however it ended.
func (e *Engine) nextCleanup() time.Time {
	every := e.opt.Cleanup.Every
	if every == 0 || !e.opt.Cleanup.Enabled {
		return time.Time{}
	}
	next := e.started.Add(cleanupFirst)
	if !e.isKeeper() && next.Before(e.opt.Now()) {
		return e.opt.Now().Add(looksAgain)
	}
	// What cannot be read only lets a run come sooner.
	runs, _ := e.cleanups.folder.Runs()
	for i := range runs {
		r := &runs[i]
		if at := r.Started.Add(every); r.Executing && r.Collection == everyCollection && at.After(next) {
			next = at
		}
	}
	return next
}

// cleanByItself carries a scheduled run out.
func (e *Engine) cleanByItself(ctx context.Context) {
	err := e.mayCleanUp()
	if err == nil {
		_, err = e.cleanup(op.WithCaller(ctx, cleanupActor()), &op.CleanupRequest{Collection: everyCollection, Mode: op.CleanupFull, Execute: true, Incremental: true})
	}
	if ctx.Err() == nil {
		e.chores.settle(cleanupJob, err)
	}
}

// cleaningJob tells when cleanups run by themselves.
func (e *Engine) cleaningJob() op.Job {
	job := op.Job{Name: cleanupJob, Problem: e.chores.problem(cleanupJob)}
	if e.opt.Cleanup.Every == 0 {
		job.Note = "when somebody asks; cleanup.schedule has it run by itself"
	}
	e.cleanups.mu.Lock()
	next := e.cleanups.next
	e.cleanups.mu.Unlock()
	if !next.IsZero() && e.isKeeper() {
		job.Next = stampTime(next)
	}
	return job
}
