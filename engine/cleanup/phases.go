package cleanup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"emberd/engine/core"
	"emberd/engine/storage"
	"emberd/internal/cleanup/runstore"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// The progress of a run in thousandths, by the duration of its parts.
const (
	progressTotal    = 1000
	progressBackup   = 30
	progressAlike    = 400
	progressScored   = 600
	ProgressMeasured = 650
	ProgressDone     = 950
)

// runContext returns a context whose progress is a part of a run's.
func runContext(ctx context.Context, from, to int) context.Context {
	tell := op.ProgressOf(ctx)
	if tell == nil {
		return ctx
	}
	tell(from, progressTotal)
	return op.WithProgress(ctx, func(done, total int) {
		if total > 0 {
			tell(from+(to-from)*min(done, total)/total, progressTotal)
		}
	})
}

// runToEnd runs all remaining phases. After a cancellation or a disk failure the run is marked
// as interrupted, in a phase that can be resumed.
func (e *Cleanup) runToEnd(ctx context.Context, run *runstore.Run) error {
	run.Entered = e.Opt.Now()
	for run.Phase != runstore.Ended {
		if err := e.step(ctx, run); err != nil {
			return e.interrupt(run, err)
		}
	}
	return nil
}

// step runs the current phase and saves that it is done.
func (e *Cleanup) step(ctx context.Context, run *runstore.Run) error {
	switch run.Phase {
	case runstore.Begin:
		return e.runBegin(ctx, run)
	case runstore.Execute:
		return e.runExecute(ctx, run)
	case runstore.Validate:
		return e.runValidate(ctx, run)
	case runstore.Rollback:
		if _, err := e.undoRun(ctx, run, false); err != nil {
			return err
		}
		return e.endRun(ctx, run, op.CleanupRolledBack)
	}
	return fmt.Errorf("a later version of emberd started run %s; upgrade emberd", run.ID)
}

// interrupt saves that a run cannot continue now. If it has changed something and the disk or
// the vault failed, it must be rolled back.
func (e *Cleanup) interrupt(run *runstore.Run, err error) error {
	run.State, run.Problem = op.CleanupBrokenOff, err.Error()
	run.Millis += e.Opt.Now().Sub(run.Entered).Milliseconds()
	if saved := e.Cleanups.Folder.Save(run); saved != nil {
		e.Opt.Logger.Error("cleanup run not saved", "run", run.ID, "err", saved)
	}
	core.Nudge(e.Cleanups.wake)
	if !run.Changing() {
		return err
	}
	return memory.Errorf(cmp.Or(memory.CodeOf(err), memory.Internal), "run %s was interrupted after %d actions: %w; "+
		"to continue, run: emberd health cleanup --resume %s; to revert it, run: emberd health cleanup rollback %s",
		run.ID, run.Next, err, run.ID, run.ID)
}

// runBegin creates the backup and the plan. Nothing changes before both are on disk.
func (e *Cleanup) runBegin(ctx context.Context, run *runstore.Run) error {
	if run.Executing {
		if err := e.backupBefore(runContext(ctx, 0, progressBackup), run); err != nil {
			return err
		}
	}
	plan, err := e.planCleanup(ctx, run)
	if err != nil {
		return err
	}
	if run.Mode == op.CleanupFull {
		if err := e.measureBefore(runContext(ctx, progressScored, ProgressMeasured), run, plan); err != nil {
			return err
		}
	}
	if e.Opt.Cleanup.Tampered != nil {
		e.Opt.Cleanup.Tampered(plan)
	}
	if err := e.Cleanups.Folder.SavePlan(run.ID, plan); err != nil {
		return err
	}
	if !run.Executing {
		return e.endRun(ctx, run, op.CleanupDryRun)
	}
	run.Phase = runstore.Execute
	return e.Cleanups.Folder.Save(run)
}

// KeptBackups is how many backups of runs are kept, the latest ones. Each has the size of the
// log.
const KeptBackups = 5

// backupOf returns the name of a run's backup. Names sort by time.
func backupOf(run string) string { return runBackupPrefix + run + ".tar.gz" }

const runBackupPrefix = "cleanup-"

// pruneRunBackups removes the backups of all but the latest runs.
func (e *Cleanup) pruneRunBackups(run *runstore.Run) error {
	if run.Backup == "" {
		return nil
	}
	folder := core.BackupFolder(e.Opt.State)
	files, err := e.Opt.FS.ReadDir(folder)
	var ours []string
	for _, file := range files {
		if name := file.Name(); strings.HasPrefix(name, runBackupPrefix) && strings.HasSuffix(name, ".tar.gz") &&
			file.Type().IsRegular() && name != backupOf(run.ID) {
			ours = append(ours, name)
		}
	}
	for _, name := range ours[:max(0, len(ours)-KeptBackups+1)] {
		err = errors.Join(err, e.Opt.FS.Remove(filepath.Join(folder, name)))
	}
	return err
}

// backupBefore creates the backup, and records since when the journal is about the run.
func (e *Cleanup) backupBefore(ctx context.Context, run *runstore.Run) error {
	file := filepath.Join(core.BackupFolder(e.Opt.State), backupOf(run.ID))
	if err := durable.MkdirAll(e.Opt.FS, filepath.Dir(file)); err != nil {
		return storage.BackupFault(file, err)
	}
	// An existing one is complete: it was created before the daemon was killed.
	if _, err := e.Opt.FS.Lstat(file); err != nil {
		if _, err := e.Storage.BackupCreate(ctx, &op.BackupCreateRequest{File: file}); err != nil {
			return err
		}
	}
	run.Backup = file
	moment, _, err := e.Stm.Moment(ctx)
	if err != nil {
		return err
	}
	run.Since = moment.Stamp
	return e.Cleanups.Folder.Save(run)
}

// runExecute applies the plan. An error other than a cancellation marks the run for a rollback.
func (e *Cleanup) runExecute(ctx context.Context, run *runstore.Run) error {
	plan, err := e.Cleanups.Folder.Plan(run.ID)
	if err != nil {
		return err
	}
	c := cleanupExecutor{e: e, run: run, plan: plan}
	undone := run.Tx != "" && e.Stm.Undone(run.Tx)
	if run.Tx == "" {
		if run.Tx, undone, err = e.entryOf(run); err != nil {
			return err
		}
	}
	if undone { // a later change in that journal entry could not be undone
		run.Phase, run.RolledBack = runstore.Rollback, "emberd undo reverted the changes of the run"
		return e.Cleanups.Folder.Save(run)
	}
	e.Cleaning.Store(true)
	defer e.Cleaning.Store(false)
	within := runContext(ctx, ProgressMeasured, ProgressDone)
	if err = c.execute(within); err == nil {
		err = c.writeScores(within)
	}
	if err == nil {
		err = c.file(within)
	}
	switch {
	case err == nil:
		run.Phase = runstore.Validate
	case ctx.Err() != nil:
		return err
	default:
		e.Opt.Logger.Error("rolling back a cleanup run", "run", run.ID, "err", err)
		run.Phase, run.RolledBack = runstore.Rollback, "emberd could not apply the cleanup plan: "+err.Error()
	}
	return e.Cleanups.Folder.Save(run)
}

// runValidate checks that searches still find what they must, and otherwise marks the run for a
// rollback.
func (e *Cleanup) runValidate(ctx context.Context, run *runstore.Run) error {
	plan, err := e.Cleanups.Folder.Plan(run.ID)
	if err == nil {
		err = e.measureAfter(runContext(ctx, ProgressDone, progressTotal), run, plan)
	}
	if err != nil {
		return err
	}
	if run.RolledBack != "" {
		run.Phase = runstore.Rollback
		return e.Cleanups.Folder.Save(run)
	}
	return e.endRun(ctx, run, op.CleanupDone)
}

// undoRun undoes what a run changed. What has changed since stays, unless forced.
func (e *Cleanup) undoRun(ctx context.Context, run *runstore.Run, force bool) (*op.UndoResult, error) {
	if run.Tx == "" {
		tx, undone, err := e.entryOf(run)
		if err != nil || tx == "" || undone {
			return &op.UndoResult{Items: []op.UndoItem{}}, err
		}
		run.Tx = tx
	}
	if e.Stm.Undone(run.Tx) {
		return &op.UndoResult{Items: []op.UndoItem{}}, nil
	}
	return e.History.Undo(op.WithCaller(ctx, run.By), &op.UndoRequest{Tx: run.Tx, Force: force})
}

// endRun saves the end of a run, and writes its report.
func (e *Cleanup) endRun(ctx context.Context, run *runstore.Run, state string) error {
	run.Phase, run.State, run.Ended, run.Problem = runstore.Ended, state, core.StampTime(e.Opt.Now()), ""
	if !run.Entered.IsZero() {
		run.Millis += e.Opt.Now().Sub(run.Entered).Milliseconds()
	}
	if err := e.writeReport(ctx, run); err != nil {
		e.Opt.Logger.Warn("cleanup report not written", "run", run.ID, "err", err)
	}
	if err := e.Cleanups.Folder.Save(run); err != nil {
		return err
	}
	if err := e.Cleanups.Folder.Prune(); err != nil {
		e.Opt.Logger.Warn("old cleanup runs not deleted", "err", err)
	}
	if err := e.pruneRunBackups(run); err != nil {
		e.Opt.Logger.Warn("backups of earlier cleanup runs not removed", "err", err)
	}
	if run.Executing {
		e.EventLog.Publish(e.Notice(fmt.Sprintf("cleanup %s: %s", run.ID, ended(run))))
		e.Opt.Logger.Info("cleanup ended", "run", run.ID, "state", run.State, "changed", run.Next-len(run.Problems))
		e.Changed()
	}
	core.Nudge(e.Cleanups.wake)
	return nil
}

// ended describes the end of a run in a few words.
func ended(run *runstore.Run) string {
	if run.State == op.CleanupRolledBack {
		return "rolled back, because " + run.RolledBack
	}
	return fmt.Sprintf("done, %d of %d memories remain", run.After, run.Entries)
}
