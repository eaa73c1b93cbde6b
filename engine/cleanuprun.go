package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"emberd/internal/cleanrun"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// A run tells how far it is in thousandths, by what its parts take.
const (
	progressTotal    = 1000
	progressBackup   = 30
	progressAlike    = 400
	progressScored   = 600
	progressMeasured = 650
	progressDone     = 950
)

// stretch is a context whose operation is a part of a run.
func stretch(ctx context.Context, from, to int) context.Context {
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

// carryRun takes a run to its end, whatever phase it is in. When nobody waits any more, or
// the disk fails, it is left as broken off, in a phase that can be gone on with.
func (e *Engine) carryRun(ctx context.Context, run *cleanrun.Run) error {
	run.Entered = e.opt.Now()
	for run.Phase != cleanrun.Ended {
		if err := e.step(ctx, run); err != nil {
			return e.brokenOff(run, err)
		}
	}
	return nil
}

// step does what the phase of a run is about, and keeps that it is done.
func (e *Engine) step(ctx context.Context, run *cleanrun.Run) error {
	switch run.Phase {
	case cleanrun.Begin:
		return e.beginning(ctx, run)
	case cleanrun.Execute:
		return e.executing(ctx, run)
	case cleanrun.Validate:
		return e.validating(ctx, run)
	case cleanrun.Rollback:
		if _, err := e.takeBack(ctx, run, false); err != nil {
			return err
		}
		return e.endRun(ctx, run, op.CleanupRolledBack)
	}
	return fmt.Errorf("run %s is in a phase that this emberd does not know; update it", run.ID)
}

// brokenOff keeps that a run cannot go on now. Where it has changed something already and
// the disk or the vault is at fault, it is to be rolled back.
func (e *Engine) brokenOff(run *cleanrun.Run, err error) error {
	run.State, run.Problem = op.CleanupBrokenOff, err.Error()
	run.Millis += e.opt.Now().Sub(run.Entered).Milliseconds()
	if saved := e.cleanups.folder.Save(run); saved != nil {
		e.opt.Logger.Error("run of the cleanup not kept", "run", run.ID, "err", saved)
	}
	nudge(e.cleanups.wake)
	if !run.Changing() {
		return err
	}
	return memory.Errorf(cmp.Or(memory.CodeOf(err), memory.Internal), "run %s was broken off after %d actions: %w; go on with emberd cleanup --resume %s, or take it back with emberd cleanup rollback %s",
		run.ID, run.Next, err, run.ID, run.ID)
}

// beginning makes the backup and the plan. Nothing is changed before both are on the disk.
func (e *Engine) beginning(ctx context.Context, run *cleanrun.Run) error {
	if run.Executing {
		if err := e.backupBefore(stretch(ctx, 0, progressBackup), run); err != nil {
			return err
		}
	}
	plan, err := e.planCleanup(ctx, run)
	if err != nil {
		return err
	}
	if run.Mode == op.CleanupFull {
		if err := e.measureBefore(stretch(ctx, progressScored, progressMeasured), run, plan); err != nil {
			return err
		}
	}
	if e.opt.Cleanup.tampered != nil {
		e.opt.Cleanup.tampered(plan)
	}
	if err := e.cleanups.folder.SavePlan(run.ID, plan); err != nil {
		return err
	}
	if !run.Executing {
		return e.endRun(ctx, run, op.CleanupDryRun)
	}
	run.Phase = cleanrun.Execute
	return e.cleanups.folder.Save(run)
}

// keptBackups is how many backups of runs are kept, the latest ones. Each is as large as the log.
const keptBackups = 5

// backupOf is the name of the backup of a run. Names sort by time.
func backupOf(run string) string { return runBackupPrefix + run + ".tar.gz" }

const runBackupPrefix = "cleanup-"

// pruneRunBackups removes the backups of all but the latest runs that executed.
func (e *Engine) pruneRunBackups(run *cleanrun.Run) error {
	if run.Backup == "" {
		return nil
	}
	folder := BackupFolder(e.opt.State)
	files, err := e.opt.FS.ReadDir(folder)
	var ours []string
	for _, file := range files {
		if name := file.Name(); strings.HasPrefix(name, runBackupPrefix) && strings.HasSuffix(name, ".tar.gz") && file.Type().IsRegular() && name != backupOf(run.ID) {
			ours = append(ours, name)
		}
	}
	for _, name := range ours[:max(0, len(ours)-keptBackups+1)] {
		err = errors.Join(err, e.opt.FS.Remove(filepath.Join(folder, name)))
	}
	return err
}

// backupBefore keeps the log as it is, and notes from when on the journal is about the run.
func (e *Engine) backupBefore(ctx context.Context, run *cleanrun.Run) error {
	file := filepath.Join(BackupFolder(e.opt.State), backupOf(run.ID))
	if err := durable.MkdirAll(e.opt.FS, filepath.Dir(file)); err != nil {
		return backupFault(file, err)
	}
	// One that is there was made before the daemon was killed: a backup is whole or not at all.
	if _, err := e.opt.FS.Lstat(file); err != nil {
		if _, err := e.backupCreate(ctx, &op.BackupCreateRequest{File: file}); err != nil {
			return err
		}
	}
	run.Backup = file
	moment, err := e.stm.Moment(ctx)
	if err != nil {
		return err
	}
	run.Since = moment.Stamp
	return e.cleanups.folder.Save(run)
}

// executing carries the plan out. What fails for another reason than that nobody waits any
// more has the run rolled back.
func (e *Engine) executing(ctx context.Context, run *cleanrun.Run) error {
	plan, err := e.cleanups.folder.Plan(run.ID)
	if err != nil {
		return err
	}
	c := cleaner{e: e, run: run, plan: plan}
	undone := run.Tx != "" && e.stm.Undone(run.Tx)
	if run.Tx == "" {
		if run.Tx, undone, err = e.entryOf(run); err != nil {
			return err
		}
	}
	if undone { // nobody could take back what came into that entry now
		run.Phase, run.RolledBack = cleanrun.Rollback, "emberd undo took back what it had done"
		return e.cleanups.folder.Save(run)
	}
	e.cleanups.changing.Store(true)
	defer e.cleanups.changing.Store(false)
	within := stretch(ctx, progressMeasured, progressDone)
	if err = c.carryOut(within); err == nil {
		err = c.scored(within)
	}
	if err == nil {
		err = c.file(within)
	}
	switch {
	case err == nil:
		run.Phase = cleanrun.Validate
	case ctx.Err() != nil:
		return err
	default:
		e.opt.Logger.Error("run of the cleanup is rolled back", "run", run.ID, "err", err)
		run.Phase, run.RolledBack = cleanrun.Rollback, "it could not be carried out: "+err.Error()
	}
	return e.cleanups.folder.Save(run)
}

// validating looks whether everything is still found, and has the run rolled back if not.
func (e *Engine) validating(ctx context.Context, run *cleanrun.Run) error {
	plan, err := e.cleanups.folder.Plan(run.ID)
	if err == nil {
		err = e.measureAfter(stretch(ctx, progressDone, progressTotal), run, plan)
	}
	if err != nil {
		return err
	}
	if run.RolledBack != "" {
		run.Phase = cleanrun.Rollback
		return e.cleanups.folder.Save(run)
	}
	return e.endRun(ctx, run, op.CleanupDone)
}

// takeBack undoes what a run changed. What somebody changed since is left, unless forced.
func (e *Engine) takeBack(ctx context.Context, run *cleanrun.Run, force bool) (*op.UndoResult, error) {
	if run.Tx == "" {
		tx, undone, err := e.entryOf(run)
		if err != nil || tx == "" || undone {
			return &op.UndoResult{Items: []op.UndoItem{}}, err
		}
		run.Tx = tx
	}
	if e.stm.Undone(run.Tx) {
		return &op.UndoResult{Items: []op.UndoItem{}}, nil
	}
	return e.undo(op.WithCaller(ctx, run.By), &op.UndoRequest{Tx: run.Tx, Force: force})
}

// endRun keeps how a run ended, and writes its report.
func (e *Engine) endRun(ctx context.Context, run *cleanrun.Run, state string) error {
	run.Phase, run.State, run.Ended, run.Problem = cleanrun.Ended, state, stampTime(e.opt.Now()), ""
	if run.State == op.CleanupRolledBack {
		run.After = run.Entries
	}
	if !run.Entered.IsZero() {
		run.Millis += e.opt.Now().Sub(run.Entered).Milliseconds()
	}
	if err := e.writeReport(ctx, run); err != nil {
		e.opt.Logger.Warn("report of the cleanup not written", "run", run.ID, "err", err)
	}
	if err := e.cleanups.folder.Save(run); err != nil {
		return err
	}
	if err := e.cleanups.folder.Prune(); err != nil {
		e.opt.Logger.Warn("old runs of the cleanup not removed", "err", err)
	}
	if err := e.pruneRunBackups(run); err != nil {
		e.opt.Logger.Warn("backups of earlier runs of the cleanup not removed", "err", err)
	}
	if run.Executing {
		e.events.publish(e.notice(fmt.Sprintf("cleanup %s: %s", run.ID, ended(run))))
		e.opt.Logger.Info("cleanup ended", "run", run.ID, "state", run.State, "changed", run.Next-len(run.Problems))
		e.changed()
	}
	nudge(e.cleanups.wake)
	return nil
}

// ended tells in few words how a run ended.
func ended(run *cleanrun.Run) string {
	if run.State == op.CleanupRolledBack {
		return "rolled back, since " + run.RolledBack
	}
	return fmt.Sprintf("done, %d of %d memories are left", run.After, run.Entries)
}
