package lifecycle

import (
	"context"
	"fmt"
	"time"

	"emberd/engine/core"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
)

// LifecycleRun runs the lifecycle at the request of a caller.
func (e *Lifecycle) LifecycleRun(ctx context.Context, req *op.LifecycleRunRequest) (*op.LifecycleRunResult, error) {
	if req.DryRun {
		return e.dryRun(ctx)
	}
	if err := e.ErrNotPrimary("the lifecycle runs"); err != nil {
		return nil, err
	}
	res, err := e.RunLifecycleOnce(ctx, op.CallerFrom(ctx), true)
	if err == nil {
		core.Nudge(e.Scheduler.Look)
	}
	return res, err
}

// ErrNotPrimary returns an error if this is not the primary device. what is the work: "the
// lifecycle runs", "the agents run".
func (e *Lifecycle) ErrNotPrimary(what string) error {
	if e.IsPrimary() {
		return nil
	}
	k := e.Stm.Primary()
	return memory.Errorf(memory.Conflict, "%s only on the primary device %s (%s); to make this device "+
		"the primary device, run: emberd config primary-device here", what, k.Device, k.Name)
}

// dryRun returns what a run would do now. Only a real run finds out whether a text can be
// archived.
func (e *Lifecycle) dryRun(context.Context) (*op.LifecycleRunResult, error) {
	r := LifecycleRun{E: e, Now: e.Opt.Now()}
	plan, promotions := r.Plan()
	r.Res.DryRun = true
	for _, c := range promotions {
		r.countMoves(op.MovePromote, []memory.ID{c.Row.ID()})
	}
	for _, kind := range kindsOfMoves() {
		for _, m := range plan.Moves {
			if KindOfMove(m) == kind {
				r.countMoves(kind, []memory.ID{m.ID})
			}
		}
	}
	return &r.Res, nil
}

const (
	IndexCheck  = "check of the indexes"
	checkNotes  = 50 // a day, chosen at random
	checkTries  = 5
	checkSettle = 20 * time.Millisecond
)

// CheckDaily compares the word index with the memories, and some notes with the note index.
func (e *Lifecycle) CheckDaily(ctx context.Context) {
	now, a := e.Opt.Now(), e.Scheduler
	a.Mu.Lock()
	last := a.Checked
	a.Mu.Unlock()
	if age := now.Sub(last); age >= 0 && age < LooksAgain {
		return
	}
	err := e.checkWords(ctx)
	if err == nil && e.Notes.Vault != nil {
		err = e.checkSomeNotes(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	e.Chores.Settle(IndexCheck, err)
	a.Mu.Lock()
	a.Checked = now
	a.Mu.Unlock()
}

// checkWords compares the counts. A save in progress may be in only one of them.
func (e *Lifecycle) checkWords(ctx context.Context) error {
	for try := 0; ; try++ {
		st := e.Stm.Status()
		if st.Indexed == st.Of {
			return nil
		}
		if try == checkTries {
			return fmt.Errorf("the keyword index contains %d of %d memories; restart the daemon to rebuild it",
				st.Indexed, st.Of)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(checkSettle):
		}
	}
}

// checkSomeNotes requests a rebuild of an index that differs from its notes.
func (e *Lifecycle) checkSomeNotes(ctx context.Context) error {
	index, _ := e.Notes.Vault.Current()
	_, err := index.Check(ctx, checkNotes, func(path string) (ltm.Doc, bool) {
		r := e.Notes.Vault.Read(ctx, path)
		return r.Doc, r.Note != nil
	})
	return err
}
