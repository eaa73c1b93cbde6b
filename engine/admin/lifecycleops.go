package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
)

// LifecycleStatus returns the state of the lifecycle.
func (e *Admin) LifecycleStatus(context.Context, *op.LifecycleStatusRequest) (*op.LifecycleStatusResult, error) {
	k, now := e.Stm.Primary(), e.Opt.Now()
	res := &op.LifecycleStatusResult{Keeper: k.Device.String(), Here: e.Lifecycle.IsPrimary(),
		Last: e.Lifecycle.LastRun(),
		Due:  map[string]int{}, KeptIDs: []op.Skipped{}, Next: e.Lifecycle.NextMove()}
	p := e.Lifecycle.Policy()
	all := p
	all.Most, all.Share = e.Stm.Len()+1, 1
	plan := all.Plan(e.Lifecycle.Facts(p, now, func(id memory.ID) {
		res.Kept++
		res.KeptIDs = lifecycle.Skipped(res.KeptIDs, id, core.NotKept)
	}), now)
	res.Memories = plan.Memories
	for _, m := range plan.Moves {
		res.Due[lifecycle.KindOfMove(m)]++
	}
	if e.Opt.AutoPromote && e.Notes.Vault != nil {
		if due, _ := e.Promote.Promotable(now, e.Opt.Promotion); len(due) > 0 {
			n := len(due)
			res.Due[op.MovePromote] = n
		}
	}
	slices.SortFunc(res.KeptIDs, func(a, b op.Skipped) int { return cmp.Compare(a.ID, b.ID) })
	res.Stages, res.Why = e.stageStatus(), e.lifecycleBlocker(len(plan.Moves), p.AtOnce(plan.Memories))
	res.Jobs = e.jobs()
	return res, nil
}

// lifecycleBlocker returns why nothing, or not all that is due, changes its stage
// automatically at once.
func (e *Admin) lifecycleBlocker(due, most int) string {
	switch {
	case e.Opt.LifecyclePeriod == 0:
		return "consolidation.interval is 0, so memories neither fade nor are promoted automatically"
	case !e.Lifecycle.IsPrimary():
		return e.Lifecycle.ErrNotPrimary("the lifecycle runs").Error()
	case due > most:
		return fmt.Sprintf("%d memories are due for a lifecycle run, but one run moves at most "+
			"%d; later runs move the other memories, one run every %g minutes", due, most,
			e.Opt.LifecyclePeriod.Minutes())
	case e.Notes.Vault == nil:
		return "no vault is configured, so emberd demotes memories but does not archive them; set vaults in the " +
			"config file, or run: emberd serve --vault DIR"
	}
	return e.Notes.VaultUnavailable()
}

func (e *Admin) stageStatus() []op.StageStatus {
	ages := e.Opt.Lifecycle.Ages
	out := []op.StageStatus{{Stage: memory.Active, Multiplier: memory.Active.ScoreMultiplier()}}
	for i, after := range []time.Duration{ages.Demote, ages.Archive, ages.Rehydrate} {
		stage := memory.Stages()[i+1]
		out = append(out, op.StageStatus{Stage: stage, After: int64(after.Seconds()),
			Multiplier: stage.ScoreMultiplier()})
	}
	counts := e.Stm.Counts()
	for i := range out {
		out[i].Count = counts.Stages[out[i].Stage]
	}
	return out
}

// jobs returns the automatic jobs.
func (e *Admin) jobs() []op.Job {
	a := e.Lifecycle.Scheduler
	a.Mu.Lock()
	defer a.Mu.Unlock()
	fading := op.Job{Name: "fading", Problem: e.Chores.Problem("lifecycle run")}
	if a.Last != nil {
		fading.Last = a.Last.At
	}
	if e.Opt.LifecyclePeriod > 0 && e.Lifecycle.IsPrimary() {
		fading.Next = core.StampTime(a.Next)
	}
	checks := op.Job{Name: "indexes", Last: core.StampTime(a.Checked), Next: core.StampTime(a.Next),
		Problem: e.Chores.Problem(lifecycle.IndexCheck)}
	if due := a.Checked.Add(lifecycle.LooksAgain); !a.Checked.IsZero() && due.After(a.Next) {
		checks.Next = core.StampTime(due)
	}
	fold := op.Job{Name: "compaction", Note: "runs when enough records of the log are superseded",
		Problem: e.Chores.Problem("compaction")}
	if last := e.Storage.Compacted.Load(); last != nil {
		fold.Last = last.At
	}
	return append([]op.Job{fading, checks, fold, e.Cleanup.CleaningJob()}, e.Agents.AgentJobs()...)
}
