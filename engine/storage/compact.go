package storage

import (
	"context"
	"maps"
	"slices"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Compact compacts all files that can be compacted, due or not.
func (e *Storage) Compact(ctx context.Context, req *op.CompactRequest) (*op.CompactResult, error) {
	now := e.Opt.Now()
	res := &op.CompactResult{DryRun: req.DryRun, Inputs: []string{}}
	if !req.DryRun {
		// Headers have full seconds; files created in this second go too.
		gone, err := e.unlink(ctx, now, now.Add(time.Second))
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
	// If one file cannot shrink, a run without writing finds out.
	trial := req.DryRun || len(plan.Inputs) == 1
	got, err := e.rewrite(ctx, e.compaction(now, plan, files, trial))
	if err != nil {
		return nil, err
	}
	if len(plan.Inputs) == 1 && got.After >= got.Before {
		res.Reason = "the log has only one file, and compaction would not make it smaller"
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

// plan applies the rules of compaction.
func (e *Storage) plan(all bool) (compaction.Plan, []stm.Segment, error) {
	files, err := e.Stm.Segments()
	if err != nil {
		return compaction.Plan{}, nil, err
	}
	return compaction.Defaults().Plan(files, e.Stm.Status().Dead, all), files, nil
}

func (e *Storage) compaction(now time.Time, plan compaction.Plan, files []stm.Segment, dryRun bool) stm.Compaction {
	return stm.Compaction{Inputs: plan.Inputs, HistoryKeep: e.Opt.HistoryKeep, DryRun: dryRun,
		Droppable: compaction.Defaults().Droppable(now, e.peers(files))}
}

// peers returns the other devices, with how much of this device's log each has. Nothing is
// known about a device with files only.
func (e *Storage) peers(files []stm.Segment) []compaction.Peer {
	own, has := stm.Device{}, map[string]compaction.Peer{}
	copy(own[:], e.Stm.Status().Device)
	for _, m := range e.Stm.Watermarks() {
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

// unlink removes what was replaced before made, and history that is too old.
func (e *Storage) unlink(ctx context.Context, now, made time.Time) (stm.Unlinked, error) {
	if err := e.expiring(now); err != nil {
		return stm.Unlinked{}, err
	}
	return e.Stm.Unlink(ctx, made, now.Add(-e.Opt.HistoryKeep))
}

// expiryMargin is how long a compaction may take.
const expiryMargin = time.Hour

// expiring has the audit log say which changes may leave the log, before they do.
func (e *Storage) expiring(now time.Time) error {
	if err := e.Ledger.Expiring(now.Add(expiryMargin - e.Opt.HistoryKeep)); err != nil {
		return memory.Errorf(memory.Unavailable,
			"emberd compacted nothing, because it cannot write the audit log: %w", err)
	}
	return nil
}

// rewrite compacts and, unless it was a trial, records the result for status.
func (e *Storage) rewrite(ctx context.Context, job stm.Compaction) (stm.Rewritten, error) {
	if !job.DryRun {
		if err := e.expiring(e.Opt.Now()); err != nil {
			return stm.Rewritten{}, err
		}
	}
	got, err := e.Stm.Rewrite(ctx, job)
	if !job.DryRun && ctx.Err() == nil {
		e.Vitals.Compacted(got, err)
	}
	if err != nil || job.DryRun {
		return got, err
	}
	e.Compacted.Store(&op.Compaction{At: e.Opt.Now(), Output: got.Output, Before: got.Before, After: got.After,
		Pending: true})
	e.Opt.Logger.Info("log compacted", "inputs", len(got.Inputs), "output", got.Output,
		"before", got.Before, "after", got.After, "took", got.Took)
	e.Changed()
	return got, nil
}

func compactResult(res *op.CompactResult, got stm.Rewritten) {
	res.Inputs, res.Output, res.History = got.Inputs, got.Output, got.History
	res.Before, res.After, res.HistoryBytes = got.Before, got.After, got.HistoryBytes
	res.Lines, res.Live, res.Tombstones, res.Dropped = got.Lines, got.Live, got.Tombstones, got.Dropped
	res.Superseded, res.Expired = got.Superseded+got.Repeated, got.Expired
	res.Millis = got.Took.Milliseconds()
}

// Compactor compacts the log in the background.
type Compactor struct {
	E        *Storage
	failures int
	// made is when the compacted files were created whose inputs may be removed now; at first
	// it is before this run. Zero if there are none.
	made time.Time
}

const compactionJob = "compaction"

// look does what is due and returns when to run again, zero to wait for a change.
func (c *Compactor) look(ctx context.Context) time.Time {
	wait, err := c.Tidy(ctx)
	if ctx.Err() != nil {
		return time.Time{}
	}
	if err != nil && memory.CodeOf(err) == memory.Busy {
		wait, err = time.Minute, nil // a compaction on request is in progress
	}
	c.E.Chores.Settle(compactionJob, err)
	if err == nil {
		c.failures = 0
	} else {
		c.failures++
		wait = compaction.Backoff(c.failures)
		c.E.Opt.Logger.Error("log not compacted; retrying later", "err", err, "after", wait)
	}
	if wait == 0 {
		return time.Time{}
	}
	return c.E.Opt.Now().Add(wait)
}

// Tidy removes what earlier compactions replaced, and runs a compaction that is due. It
// returns when to run again, 0 to wait for a change.
func (c *Compactor) Tidy(ctx context.Context) (wait time.Duration, err error) {
	if c.E.Stm.PurgesDue() {
		if _, err := c.E.Stm.CarryOutPurges(ctx); err != nil {
			return 0, err
		}
	}
	if wait, err = c.unlink(ctx); err != nil {
		return 0, err
	}
	rules := compaction.Defaults()
	st := c.E.Stm.Status()
	if st.Sealed <= rules.Files && st.Dead < rules.DeadBytes {
		return wait, nil // without reading the disk
	}
	plan, files, err := c.E.plan(false)
	if err != nil || !plan.Due {
		return wait, err
	}
	job := c.E.compaction(c.E.Opt.Now(), plan, files, false)
	job.Rest = compaction.Rest
	_, err = c.E.rewrite(ctx, job)
	return rules.UnlinkDelay, err
}

// unlink removes the inputs of the last compaction when it is time, and returns how long that
// is.
func (c *Compactor) unlink(ctx context.Context) (wait time.Duration, err error) {
	now := c.E.Opt.Now()
	last := c.E.Compacted.Load()
	if last != nil && last.Pending {
		// Headers have full seconds.
		if left := last.At.Add(compaction.Defaults().UnlinkDelay + time.Second).Sub(now); left > 0 {
			return left, nil
		}
		c.made = last.At.Add(time.Second)
	}
	if c.made.IsZero() {
		return 0, nil
	}
	_, err = c.E.unlink(ctx, now, c.made)
	if err != nil {
		return 0, err
	}
	c.made = time.Time{}
	if last != nil {
		done := *last
		done.Pending = false
		c.E.Compacted.CompareAndSwap(last, &done)
	}
	return 0, nil
}
