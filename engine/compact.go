package engine

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// compact folds what can be folded, due or not.
func (e *Engine) compact(ctx context.Context, req *op.CompactRequest) (*op.CompactResult, error) {
	now := e.opt.Now()
	res := &op.CompactResult{DryRun: req.DryRun, Inputs: []string{}}
	if !req.DryRun {
		// Headers tell full seconds; what was made in this one goes too.
		gone, err := e.stm.Unlink(ctx, now.Add(time.Second), now.Add(-e.opt.HistoryKeep))
		if res.Removed = gone.Names; err != nil {
			return nil, err
		}
	}
	plan, files, err := e.plan(true)
	if err != nil {
		return nil, err
	}
	res.Due, res.Reason = plan.Due, plan.Reason
	if len(plan.Inputs) == 0 {
		return res, nil
	}
	// One file may be as small as it gets, which a run without writing tells.
	trial := req.DryRun || len(plan.Inputs) == 1
	got, err := e.rewrite(ctx, e.compaction(now, plan, files, trial))
	if err != nil {
		return nil, err
	}
	if len(plan.Inputs) == 1 && got.After >= got.Before {
		res.Reason = "there is one file, and nothing in it can go"
		return res, nil
	}
	if trial && !req.DryRun {
		if got, err = e.rewrite(ctx, e.compaction(now, plan, files, false)); err != nil {
			return nil, err
		}
	}
	compactResult(res, got)
	exact := compaction.Defaults().Plan(files, max(0, got.Before-got.After), true)
	res.Due, res.Reason = exact.Due, exact.Reason
	return res, nil
}

// plan asks the rules.
func (e *Engine) plan(all bool) (compaction.Plan, []stm.Segment, error) {
	files, err := e.stm.Segments()
	if err != nil {
		return compaction.Plan{}, nil, err
	}
	return compaction.Defaults().Plan(files, e.stm.Status().Dead, all), files, nil
}

func (e *Engine) compaction(now time.Time, plan compaction.Plan, files []stm.Segment, dryRun bool) stm.Compaction {
	return stm.Compaction{Inputs: plan.Inputs, HistoryKeep: e.opt.HistoryKeep, DryRun: dryRun,
		Droppable: compaction.Defaults().Droppable(now, e.peers(files))}
}

// peers are the other devices, with how much of ours each has. Of one of which
// there are files only, nothing is known.
func (e *Engine) peers(files []stm.Segment) []compaction.Peer {
	own, has := stm.Device{}, map[string]compaction.Peer{}
	copy(own[:], e.stm.Status().Device)
	for _, m := range e.stm.Watermarks() {
		has[m.Device.String()] = compaction.Peer{Device: m.Device.String(), Seen: m.At, Has: m.Seen[own]}
	}
	for _, g := range files {
		if _, ok := has[g.Device]; !ok {
			has[g.Device] = compaction.Peer{Device: g.Device}
		}
	}
	delete(has, own.String())
	return slices.Collect(maps.Values(has))
}

// rewrite compacts and, unless it was a trial, remembers that for status.
func (e *Engine) rewrite(ctx context.Context, job stm.Compaction) (stm.Rewritten, error) {
	got, err := e.stm.Rewrite(ctx, job)
	if !job.DryRun && ctx.Err() == nil {
		e.vitals.compacted(got, err)
	}
	if err != nil || job.DryRun {
		return got, err
	}
	e.compacted.Store(&op.Compaction{At: e.opt.Now(), Output: got.Output, Before: got.Before, After: got.After, Pending: true})
	e.opt.Logger.Info("log compacted", "inputs", len(got.Inputs), "output", got.Output,
		"before", got.Before, "after", got.After, "took", got.Took)
	e.changed()
	return got, nil
}

func compactResult(res *op.CompactResult, got stm.Rewritten) {
	res.Inputs, res.Output, res.History = got.Inputs, got.Output, got.History
	res.Before, res.After, res.HistoryBytes = got.Before, got.After, got.HistoryBytes
	res.Lines, res.Live, res.Tombstones, res.Dropped = got.Lines, got.Live, got.Tombstones, got.Dropped
	res.Superseded, res.Expired = got.Superseded+got.Repeated, got.Expired
	res.Millis = got.Took.Milliseconds()
}

// compactor is the part of the housekeeping that compacts the log.
type compactor struct {
	e        *Engine
	failures int
	// made is when the compacted files were made whose inputs may go now: before
	// this run, at first. Zero when there are none.
	made time.Time
}

func (c *compactor) name() string { return "compaction" }

// look does what is due and arms the timer for what will be, if anything.
func (c *compactor) look(ctx context.Context) <-chan time.Time {
	wait, err := c.tidy(ctx)
	c.e.chores.disarm(c.name())
	if ctx.Err() != nil {
		return nil
	}
	if memory.CodeOf(err) == memory.Busy && err != nil {
		wait, err = time.Minute, nil // somebody asked for one
	}
	c.e.chores.settle(c.name(), err)
	if err == nil {
		c.failures = 0
	} else {
		c.failures++
		wait = compaction.Backoff(c.failures)
		c.e.opt.Logger.Error("log not compacted, tried again later", "err", err, "after", wait)
	}
	if wait == 0 {
		return nil
	}
	c.e.chores.arm(c.name(), wait)
	return time.After(wait)
}

// tidy removes what earlier compactions replaced and carries out the one that is
// due. It says when to look again, 0 for not before something changes.
func (c *compactor) tidy(ctx context.Context) (wait time.Duration, err error) {
	if c.e.stm.PurgesDue() {
		if _, err := c.e.stm.CarryOutPurges(ctx); err != nil {
			return 0, err
		}
	}
	if wait, err = c.unlink(ctx); err != nil {
		return 0, err
	}
	rules := compaction.Defaults()
	st := c.e.stm.Status()
	if st.Sealed <= rules.Files && st.Dead < rules.DeadBytes {
		return wait, nil // without a look at the disk
	}
	plan, files, err := c.e.plan(false)
	if err != nil || !plan.Due {
		return wait, err
	}
	job := c.e.compaction(c.e.opt.Now(), plan, files, false)
	job.Rest = compaction.Rest
	_, err = c.e.rewrite(ctx, job)
	// It takes as much memory again as it reads of the log's keys for a moment.
	debug.FreeOSMemory()
	return rules.UnlinkDelay, err
}

// unlink removes the inputs of the last compaction when it is time, and says how
// long that is off.
func (c *compactor) unlink(ctx context.Context) (wait time.Duration, err error) {
	now := c.e.opt.Now()
	last := c.e.compacted.Load()
	if last != nil && last.Pending {
		// Headers tell full seconds.
		if left := last.At.Add(compaction.Defaults().UnlinkDelay + time.Second).Sub(now); left > 0 {
			return left, nil
		}
		c.made = last.At.Add(time.Second)
	}
	if c.made.IsZero() {
		return 0, nil
	}
	_, err = c.e.stm.Unlink(ctx, c.made, now.Add(-c.e.opt.HistoryKeep))
	if err != nil {
		return 0, err
	}
	c.made = time.Time{}
	if last != nil {
		done := *last
		done.Pending = false
		c.e.compacted.CompareAndSwap(last, &done)
	}
	return 0, nil
}
