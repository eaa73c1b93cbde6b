package lifecycle

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

const (
	// FirstLook is how long after its start a daemon waits before it changes stages, because
	// the vault and other devices' uses may still arrive.
	FirstLook = time.Minute
	// LooksAgain is the longest wait between two runs: timers stop while a machine is
	// suspended, and the indexes are checked once a day.
	LooksAgain = 24 * time.Hour
	// ReadingRetry is how long a run waits for the first reading of the notes.
	ReadingRetry = 5 * time.Minute
	// wakeDelay is how long a used demoted memory waits for others, so that one transaction
	// activates them.
	wakeDelay = 2 * time.Second
)

// AgingActor returns the actor of automatic runs of the lifecycle.
func AgingActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "lifecycle"} }

// LifecycleScheduler is the state of the lifecycle's tasks. The goroutine of the lifecycle
// task, and a request to run the lifecycle, both use it.
type LifecycleScheduler struct {
	// Running is held through a run, which locks rows and updates the store. It is taken with
	// TryLock only, before Mu, so that a second run fails instead of waiting.
	Running    sync.Mutex
	Look       chan struct{} // room for one token: a change may be due
	usedSignal chan struct{} // room for one token: used is not empty

	// Mu guards the fields below. It is held only to read or set them.
	Mu      sync.Mutex
	used    map[memory.ID]bool
	Last    *op.LifecycleRunResult // the last run that was not a dry run
	Next    time.Time              // time of the next run, zero if it waits for a change
	Checked time.Time              // when the indexes were checked
	Duties  []Duty                 // work of the primary device in every run; set before Run
}

// Duty is work of another feature that the primary device does in every run.
type Duty struct {
	Name string // for messages about failures
	Do   func(context.Context) error
}

// NewScheduler returns the state of the lifecycle's tasks before their first run.
func NewScheduler() *LifecycleScheduler {
	return &LifecycleScheduler{Look: make(chan struct{}, 1), usedSignal: make(chan struct{}, 1),
		used: make(map[memory.ID]bool)}
}

// Used counts a use of a memory. A demoted memory becomes active soon after, and so does an archived one that a search
// found relevant lately. If the caller may not change the memory, Used does nothing.
func (e *Lifecycle) Used(row *stm.Row, at time.Time) {
	if !e.CanWrite(row) {
		return
	}
	e.Stm.Use(stm.Use{ID: row.ID(), Uses: 1, At: at})
	e.Revision.Add(1)
	switch {
	case core.Cold(row) && e.rekindles(row):
		e.Notes.RequestRekindle(row.ID())
	case row.Stage() == memory.Demoted:
		a := e.Scheduler
		a.Mu.Lock()
		a.used[row.ID()] = true
		a.Mu.Unlock()
		core.Nudge(a.usedSignal)
	}
	e.Changed()
}

// Opened counts an access that showed the whole memory: that delays fading, and is not a use. If the caller may
// not change the memory, Opened does nothing.
func (e *Lifecycle) Opened(row *stm.Row, at time.Time) {
	if !e.CanWrite(row) {
		return
	}
	e.Stm.Use(stm.Use{ID: row.ID(), Accesses: 1, Opened: true, At: at})
	e.Revision.Add(1)
	e.Changed()
}

// Tasks returns the background work of the lifecycle. One task activates used memories; the
// other fades and promotes what is due. Without changes, the second sleeps until the first
// memory is due, at most a day; without memories and notes it has no timer.
func (e *Lifecycle) Tasks() []*core.Task {
	s := e.Scheduler
	planned := func(at time.Time) {
		s.Mu.Lock()
		s.Next = at
		s.Mu.Unlock()
	}
	return []*core.Task{
		{Wake: s.usedSignal, Woken: e.After(wakeDelay), Do: func(ctx context.Context) time.Time {
			e.ActivateUsed(ctx)
			return time.Time{}
		}},
		{Name: "lifecycle", First: e.Opt.Now().Add(FirstLook), Wake: s.Look, Woken: e.nextAfterChange, Do: e.RunDue,
			Planned: planned, Rest: time.Second},
	}
}

// nextAfterChange returns when to run after a change: any memory may be due, but one run in a period is
// enough.
func (e *Lifecycle) nextAfterChange(next time.Time) time.Time {
	wait := e.Opt.LifecyclePeriod
	if wait == 0 {
		wait = LooksAgain
	}
	soon := e.Opt.Now().Add(wait)
	if next.IsZero() || soon.Before(next) {
		return soon
	}
	return next
}

// RunDue does what is due and returns when to run again.
func (e *Lifecycle) RunDue(ctx context.Context) time.Time {
	now := e.Opt.Now()
	if !e.Indexed.Load() {
		return now.Add(FirstLook)
	}
	e.CheckDaily(ctx)
	e.RepairAll(ctx)
	e.doDuties(ctx)
	if e.Opt.LifecyclePeriod > 0 && e.IsPrimary() {
		res, err := e.RunLifecycleOnce(ctx, AgingActor(), false)
		if ctx.Err() != nil {
			return time.Time{}
		}
		e.Chores.Settle("lifecycle run", err)
		if err != nil {
			e.Opt.Logger.Error("lifecycle run interrupted", "err", err)
			return now.Add(e.Opt.LifecyclePeriod)
		}
		if res.Waiting+len(res.Skipped) > 0 {
			return now.Add(e.Opt.LifecyclePeriod)
		}
	}
	select {
	case <-e.Scheduler.Look: // from this run's own changes
	default:
	}
	return e.NextLook()
}

func (e *Lifecycle) doDuties(ctx context.Context) {
	if !e.IsPrimary() {
		return
	}
	for _, d := range e.Scheduler.Duties {
		if err := d.Do(ctx); ctx.Err() == nil {
			e.Chores.Settle(d.Name, err)
		}
	}
}

// NextLook returns when a memory is due, at least one period and at most a day from now. It
// returns the zero time if there is nothing to do.
func (e *Lifecycle) NextLook() time.Time {
	now := e.Opt.Now()
	if e.Stm.Len() == 0 && e.Notes.Vault == nil {
		return time.Time{}
	}
	latest := now.Add(LooksAgain)
	if e.Opt.LifecyclePeriod == 0 || !e.IsPrimary() {
		return latest
	}
	soonest := now.Add(e.Opt.LifecyclePeriod)
	at := latest
	if next := e.NextMove(); next != nil && next.At.Before(at) {
		at = next.At
	}
	if due := e.Promote.NextPromotion(now); !due.IsZero() && due.Before(at) {
		at = due
	}
	switch {
	case e.Notes.Vault != nil && !e.Notes.Vault.Complete.Load():
		return now.Add(ReadingRetry)
	case e.Notes.Vault != nil && e.Notes.VaultUnavailable() != "" || at.Before(soonest):
		return soonest
	}
	return at
}

// IsPrimary reports whether this is the primary device.
func (e *Lifecycle) IsPrimary() bool {
	return e.Stm.Primary().Device.String() == e.Stm.Status().Device
}

// FactsOf returns the facts that decide the stage of a memory.
func FactsOf(r *stm.Row) rekindle.StageInputs {
	f := rekindle.StageInputs{ID: r.ID(), Stage: r.Stage(), Category: r.Category(), Core: r.Core(),
		CreatedAt: r.CreatedAt(), LastUsed: r.LastUsed(), LastOpened: stm.LastOpened(r), Since: r.Changed("stage")}
	if f.Stage == memory.Demoted && core.RowStatus(r) == "archived" {
		f.ArchivedElsewhere = r.StampOf("stage").Time()
	}
	return f
}

// Policy returns the policy for the current vault: without one, no text can be archived.
func (e *Lifecycle) Policy() rekindle.Policy {
	p := e.Opt.Lifecycle
	if e.Notes.Vault == nil || e.Notes.VaultUnavailable() != "" {
		p.Coldest = memory.Demoted
	}
	return p
}

// Facts yields the facts for a plan, and calls kept for each text that is due for archiving
// and cannot be archived.
func (e *Lifecycle) Facts(p rekindle.Policy, now time.Time,
	kept func(memory.ID)) func(yield func(rekindle.StageInputs) bool) {
	return func(yield func(rekindle.StageInputs) bool) {
		for r := range e.Stm.Rows() {
			f := FactsOf(r)
			if !f.Stage.Cold() && p.Stage(f, now).Cold() {
				if !core.FitsNote(r.Content()) {
					f.Coldest = memory.Demoted
					kept(f.ID)
				}
			}
			if !yield(f) {
				return
			}
		}
	}
}

// NextMove returns the first coming change of stage if no memory is used, nil for none.
func (e *Lifecycle) NextMove() *op.NextMove {
	var next *op.NextMove
	p, now := e.Policy(), e.Opt.Now()
	for r := range e.Stm.Rows() {
		to, at, ok := p.Next(FactsOf(r))
		if !ok || !at.After(now) {
			continue
		}
		move := &op.NextMove{ID: r.ID(), To: to, At: at}
		if next == nil || cmp.Or(at.Compare(next.At), cmp.Compare(move.ID, next.ID)) < 0 {
			next = move
		}
	}
	return next
}

// ActivateUsed makes the demoted memories active that were used on this device, in one
// transaction. The primary device's next run finds those that it misses.
func (e *Lifecycle) ActivateUsed(ctx context.Context) {
	a := e.Scheduler
	a.Mu.Lock()
	ids := slices.Collect(maps.Keys(a.used))
	clear(a.used)
	a.Mu.Unlock()
	var moves []rekindle.Move
	for _, id := range ids {
		if row, live := e.Stm.Get(id); live && e.Opt.Lifecycle.Stage(FactsOf(row), e.Opt.Now()) == memory.Active {
			moves = append(moves, rekindle.Move{ID: id, From: memory.Demoted, To: memory.Active})
		}
	}
	r := LifecycleRun{E: e, By: AgingActor(), Now: e.Opt.Now()}
	err := r.SetStage(ctx, core.WakeVerb, moves)
	if ctx.Err() == nil {
		e.Chores.Settle("restoring used memories", err)
	}
}

// SetStage changes the stage of memories that keep their text, up to ShiftAtOnce in one log
// line. It skips memories that changed after the plan.
func (r *LifecycleRun) SetStage(ctx context.Context, verb string, moves []rekindle.Move) error {
	for some := range slices.Chunk(moves, ShiftAtOnce) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ids := make([]memory.ID, len(some))
		for i, m := range some {
			ids[i] = m.ID
		}
		var done []memory.ID
		receipt, err := r.E.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
			tx := &stm.Tx{Verb: verb, By: r.By, Entry: r.Res.Tx}
			var stages []promote.PendingWrite
			for i, m := range some {
				if why := skipReason(rows[i], m); why != "" {
					r.skip(m.ID, why)
					continue
				}
				stage, err := r.noteStage(rows[i])
				if err != nil {
					return nil, err
				}
				stages = append(stages, stage...)
				set := map[string]json.RawMessage{"stage": json.RawMessage(`"` + m.To + `"`)}
				tx.Changes = append(tx.Changes, stm.Change{ID: m.ID, Set: set})
				done = append(done, m.ID)
			}
			return tx, r.E.Promote.TellStages(stages)
		})
		if err != nil {
			return err
		}
		r.recordTx(receipt.Entry)
		r.countMoves(verb, done)
		r.reportProgress(ctx, len(some))
	}
	return nil
}

// skipReason returns why a planned move is skipped.
func skipReason(row *stm.Row, m rekindle.Move) string {
	switch {
	case row == nil:
		return "the memory was deleted in the meantime"
	case row.Stage() != m.From:
		return fmt.Sprintf("the memory is already %s", row.Stage())
	case m.To == memory.Active:
		return ""
	case row.Core():
		return "core memories never fade"
	case !stm.LastTouched(row).Equal(m.Used):
		return "the memory was used or opened in the meantime"
	}
	return ""
}

// noteStage returns the write of the stage to a note that states one.
func (r *LifecycleRun) noteStage(row *stm.Row) ([]promote.PendingWrite, error) {
	if r.E.Notes.Vault == nil || row.Fields()["note_seen"] == nil {
		return nil, nil
	}
	m, err := row.Memory()
	if err != nil {
		return nil, err
	}
	return r.E.Promote.StageWrites(&m, r.By), nil
}
