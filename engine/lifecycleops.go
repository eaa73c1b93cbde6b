package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
)

// lifecycleRun runs the lifecycle because somebody asked for it.
func (e *Engine) lifecycleRun(ctx context.Context, req *op.LifecycleRunRequest) (*op.LifecycleRunResult, error) {
	if req.DryRun {
		return e.wouldAge(ctx)
	}
	if err := e.needKeeper("the lifecycle runs"); err != nil {
		return nil, err
	}
	res, err := e.age(ctx, op.CallerFrom(ctx), true)
	if err == nil {
		nudge(e.aging.look)
	}
	return res, err
}

// needKeeper refuses what is only done on the keeper: "the lifecycle runs", "the agents run".
func (e *Engine) needKeeper(what string) error {
	if e.isKeeper() {
		return nil
	}
	k := e.stm.Keeper()
	return memory.Errorf(memory.Conflict, "%s on the keeper, which is device %s (%s); run it there, or make this device the keeper with emberd keeper here", what, k.Device, k.Name)
}

// wouldAge tells what a run would do now. Whether a text can really be archived turns out
// when it is.
func (e *Engine) wouldAge(context.Context) (*op.LifecycleRunResult, error) {
	r := agingRun{e: e, now: e.opt.Now()}
	plan, promotions := r.plan()
	r.res.DryRun = true
	for _, c := range promotions {
		r.moved(op.MovePromote, []memory.ID{c.row.ID()})
	}
	for _, kind := range kindsOfMoves() {
		for _, m := range plan.Moves {
			if kindOfMove(m) == kind {
				r.moved(kind, []memory.ID{m.ID})
			}
		}
	}
	if r.res.Report {
		r.res.Why = atOnce(&plan) + ": no run does so by itself"
	}
	return &r.res, nil
}

// lifecycleStatus tells how the lifecycle is.
func (e *Engine) lifecycleStatus(context.Context, *op.LifecycleStatusRequest) (*op.LifecycleStatusResult, error) {
	k, now := e.stm.Keeper(), e.opt.Now()
	res := &op.LifecycleStatusResult{Keeper: k.Device.String(), Here: e.isKeeper(), Last: e.aging.lastRun(),
		Due: map[string]int{}, KeptIDs: []op.Skipped{}, Next: e.nextMove()}
	p := e.policy()
	all := p
	all.Most, all.Share = e.stm.Len()+1, 1
	plan := all.Plan(e.facts(p, now, func(id memory.ID) {
		res.Kept++
		res.KeptIDs = skipped(res.KeptIDs, id, notKept)
	}), now)
	res.Memories, res.Report = plan.Memories, plan.Report
	for _, m := range plan.Moves {
		res.Due[kindOfMove(m)]++
	}
	if e.opt.AutoPromote && e.notes != nil {
		if due, _ := e.promotable(now, e.opt.Promotion); len(due) > 0 {
			n := len(due)
			res.Due[op.MovePromote] = n
		}
	}
	slices.SortFunc(res.KeptIDs, func(a, b op.Skipped) int { return cmp.Compare(a.ID, b.ID) })
	res.Stages, res.Why = e.stageStatus(), e.whyNothing(&plan)
	res.Jobs = e.jobs()
	return res, nil
}

// notKept is why a text is demoted at most.
const notKept = "a note would not keep its text to the byte, for it has control characters, other line ends than LF, or what a plugin would run"

// whyNothing is why nothing, or not all that is due, moves by itself.
func (e *Engine) whyNothing(plan *rekindle.Plan) string {
	switch {
	case e.opt.LifecyclePeriod == 0:
		return "consolidation.interval is 0, so that nothing fades or is promoted unless asked for"
	case !e.isKeeper():
		return e.needKeeper("the lifecycle runs").Error()
	case plan.Report && plan.Colder > e.aging.agreement():
		return atOnce(plan) + "; if that is right: emberd lifecycle run"
	case e.notes == nil:
		return "there is no vault to keep texts in, so that memories are demoted and not archived; name one with vaults: in the config or emberd serve --vault"
	}
	return e.vaultAway()
}

func (e *Engine) stageStatus() []op.StageStatus {
	ages := e.opt.Lifecycle.Ages
	out := []op.StageStatus{{Stage: memory.Active}}
	for i, after := range []time.Duration{ages.Demote, ages.Archive, ages.Rehydrate} {
		out = append(out, op.StageStatus{Stage: memory.Stages()[i+1], After: int64(after.Seconds())})
	}
	counts := e.stm.Counts()
	for i := range out {
		out[i].Count = counts.Stages[out[i].Stage]
	}
	return out
}

// jobs lists what is done by itself.
func (e *Engine) jobs() []op.Job {
	a := e.aging
	a.mu.Lock()
	defer a.mu.Unlock()
	fading := op.Job{Name: "fading", Problem: e.chores.problem("run of the lifecycle")}
	if a.last != nil {
		fading.Last = a.last.At
	}
	if e.opt.LifecyclePeriod > 0 && e.isKeeper() {
		fading.Next = stampTime(a.next)
	}
	checks := op.Job{Name: "indexes", Last: stampTime(a.checked), Next: stampTime(a.next), Problem: e.chores.problem(indexCheck)}
	if due := a.checked.Add(looksAgain); !a.checked.IsZero() && due.After(a.next) {
		checks.Next = stampTime(due)
	}
	fold := op.Job{Name: "compaction", Note: "when enough of the log no longer counts", Problem: e.chores.problem("compaction")}
	if last := e.compacted.Load(); last != nil {
		fold.Last = last.At
	}
	return append([]op.Job{fading, checks, fold, e.cleaningJob()}, e.agentJobs()...)
}

const (
	indexCheck  = "check of the indexes"
	checkNotes  = 50 // a day, chosen at random
	checkTries  = 5
	checkSettle = 20 * time.Millisecond
)

// checkDaily compares the word index with the memories, and some notes with the index
// over them.
func (e *Engine) checkDaily(ctx context.Context) {
	now, a := e.opt.Now(), e.aging
	a.mu.Lock()
	last := a.checked
	a.mu.Unlock()
	if age := now.Sub(last); age >= 0 && age < looksAgain {
		return
	}
	err := e.checkWords(ctx)
	if err == nil && e.notes != nil {
		err = e.checkSomeNotes(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	e.chores.settle(indexCheck, err)
	a.mu.Lock()
	a.checked = now
	a.mu.Unlock()
}

// checkWords counts. A save that is under way may be in one count and not in the other.
func (e *Engine) checkWords(ctx context.Context) error {
	for try := 0; ; try++ {
		st := e.stm.Status()
		if st.Indexed == st.Of {
			return nil
		}
		if try == checkTries {
			return fmt.Errorf("the word index holds %d of %d memories; restart emberd to have it built anew", st.Indexed, st.Of)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(checkSettle):
		}
	}
}

// checkSomeNotes has an index that differs from its notes built anew.
func (e *Engine) checkSomeNotes(ctx context.Context) error {
	index, _ := e.notes.current()
	_, err := index.Check(ctx, checkNotes, func(path string) (ltm.Doc, bool) {
		r := e.notes.read(ctx, path)
		return r.doc, r.note != nil
	})
	return err
}
