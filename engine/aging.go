package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

const (
	// firstLook is how long after its start a daemon lets everything fade as it is: the
	// vault may still be on its way, and other devices' uses are.
	firstLook = time.Minute
	// looksAgain is the longest sleep while there is anything to look after: timers stand
	// still while a machine is suspended, and the indexes are checked once a day.
	looksAgain = 24 * time.Hour
	// readingAgain is how long it waits for the notes to be read for the first time.
	readingAgain = 5 * time.Minute
	// wakeDelay is how long a demoted memory that was used waits for others, so that they
	// are woken together.
	wakeDelay = 2 * time.Second
)

// The verbs of the journal for memories that keep their text.
const (
	demoteVerb = "demote"
	wakeVerb   = "wake"
)

func agingActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "lifecycle"} }

// aging is what the scheduler of the lifecycle knows.
type aging struct {
	running sync.Mutex    // held through a run
	look    chan struct{} // holds a token when something changed that may fall due
	woken   chan struct{} // holds a token when used is not empty

	mu      sync.Mutex // guards what follows
	used    map[memory.ID]bool
	last    *op.LifecycleRunResult // that was no dry run
	next    time.Time              // when it looks again, zero for not before something changes
	checked time.Time              // the indexes
	// agreed is how many memories may fade at once because somebody asked for it.
	agreed int
}

func newAging() *aging {
	return &aging{look: make(chan struct{}, 1), woken: make(chan struct{}, 1), used: make(map[memory.ID]bool)}
}

// used counts a use of a memory, which wakes it soon if it is demoted. Who may not change it
// leaves it as it is.
func (e *Engine) used(row *stm.Row, at time.Time) {
	if !e.may(row) {
		return
	}
	e.stm.Use(stm.Use{ID: row.ID(), Uses: 1, At: at})
	e.revision.Add(1)
	if row.Stage() == memory.Demoted {
		a := e.aging
		a.mu.Lock()
		a.used[row.ID()] = true
		a.mu.Unlock()
		nudge(a.woken)
	}
	e.changed()
}

// keepAging wakes what was used, and looks for what is due to fade or to be promoted,
// until ctx is done. While nothing changes it sleeps until the first memory is due, a
// day at most; with nothing to look after no timer is set.
func (e *Engine) keepAging(ctx context.Context) {
	const name = "lifecycle"
	defer e.chores.disarm(name)
	next := e.opt.Now().Add(firstLook)
	var wake <-chan time.Time
	for {
		timer := e.sleep(name, next)
		select {
		case <-ctx.Done():
			return
		case <-e.aging.woken:
			if wake == nil {
				wake = time.After(wakeDelay)
			}
		case <-wake:
			wake = nil
			e.wakeUsed(ctx)
		case <-e.aging.look:
			next = e.sooner(next)
		case <-timer:
			next = e.lookForDue(ctx)
		}
	}
}

// sleep arms the timer for the next look, none for the zero time.
func (e *Engine) sleep(name string, next time.Time) <-chan time.Time {
	e.aging.mu.Lock()
	e.aging.next = next
	e.aging.mu.Unlock()
	return e.timer(name, next)
}

// timer fires at a time, never for the zero time, and is told of in status.
func (e *Engine) timer(name string, at time.Time) <-chan time.Time {
	if at.IsZero() {
		e.chores.disarm(name)
		return nil
	}
	wait := max(at.Sub(e.opt.Now()), time.Second).Round(time.Second)
	e.chores.arm(name, wait)
	return time.After(wait)
}

// sooner is when to look after a change: what was changed may be due at any time, but a
// look a period is enough.
func (e *Engine) sooner(next time.Time) time.Time {
	wait := e.opt.LifecyclePeriod
	if wait == 0 {
		wait = looksAgain
	}
	soon := e.opt.Now().Add(wait)
	if next.IsZero() || soon.Before(next) {
		return soon
	}
	return next
}

// lookForDue does what is due and returns when to look again.
func (e *Engine) lookForDue(ctx context.Context) time.Time {
	now := e.opt.Now()
	if !e.indexed.Load() {
		return now.Add(firstLook)
	}
	e.checkDaily(ctx)
	e.mendAll(ctx)
	if e.isKeeper() {
		if err := e.decideOverdue(ctx); ctx.Err() == nil {
			e.chores.settle("deciding of what nobody decided", err)
		}
	}
	if e.opt.LifecyclePeriod > 0 && e.isKeeper() {
		res, err := e.age(ctx, agingActor(), false)
		if ctx.Err() != nil {
			return time.Time{}
		}
		e.chores.settle("run of the lifecycle", err)
		if err != nil {
			e.opt.Logger.Error("lifecycle run broken off", "err", err)
			return now.Add(e.opt.LifecyclePeriod)
		}
		if res.Waiting+len(res.Skipped) > 0 && !res.Report {
			return now.Add(e.opt.LifecyclePeriod)
		}
	}
	select {
	case <-e.aging.look: // of this run's own changes
	default:
	}
	return e.nextLook()
}

// nextLook is when something is due, no sooner than a period from now and no later than
// a day. With nothing to look after it is the zero time.
func (e *Engine) nextLook() time.Time {
	now := e.opt.Now()
	if e.stm.Len() == 0 && e.notes == nil {
		return time.Time{}
	}
	latest := now.Add(looksAgain)
	if e.opt.LifecyclePeriod == 0 || !e.isKeeper() {
		return latest
	}
	soonest := now.Add(e.opt.LifecyclePeriod)
	at := latest
	if next := e.nextMove(); next != nil && next.At.Before(at) {
		at = next.At
	}
	if due := e.nextPromotion(now); !due.IsZero() && due.Before(at) {
		at = due
	}
	switch {
	case e.notes != nil && !e.notes.complete.Load():
		return now.Add(readingAgain)
	case e.notes != nil && e.vaultAway() != "" || at.Before(soonest):
		return soonest
	}
	return at
}

// isKeeper reports whether this device does what only one may do.
func (e *Engine) isKeeper() bool {
	return e.stm.Keeper().Device.String() == e.stm.Status().Device
}

// factsOf is what the stage of a memory depends on.
func factsOf(r *stm.Row) rekindle.Facts {
	return rekindle.Facts{ID: r.ID(), Stage: r.Stage(), Category: r.Category(), Core: r.Core(),
		CreatedAt: r.CreatedAt(), LastUsed: r.LastUsed(), Since: r.Changed("stage")}
}

// policy is the policy while the vault is as it is: without one there is no place for
// texts.
func (e *Engine) policy() rekindle.Policy {
	p := e.opt.Lifecycle
	if e.notes == nil || e.vaultAway() != "" {
		p.Coldest = memory.Demoted
	}
	return p
}

// facts yields what a plan is made of, and tells kept of texts that would have to go to
// the vault and cannot.
func (e *Engine) facts(p rekindle.Policy, now time.Time, kept func(memory.ID)) func(yield func(rekindle.Facts) bool) {
	return func(yield func(rekindle.Facts) bool) {
		for r := range e.stm.Rows() {
			f := factsOf(r)
			if !f.Stage.Cold() && p.Stage(f, now).Cold() {
				if !keepable(r.Content()) {
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

// nextMove is the first change of stage that is still to come, if nothing is used.
func (e *Engine) nextMove() *op.NextMove {
	var next *op.NextMove
	p, now := e.policy(), e.opt.Now()
	for r := range e.stm.Rows() {
		to, at, ok := p.Next(factsOf(r))
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

// wakeUsed makes demoted memories active that were used on this device, in one
// transaction. What it misses the keeper's next run finds.
func (e *Engine) wakeUsed(ctx context.Context) {
	a := e.aging
	a.mu.Lock()
	ids := slices.Collect(maps.Keys(a.used))
	clear(a.used)
	a.mu.Unlock()
	var moves []rekindle.Move
	for _, id := range ids {
		if row, live := e.stm.Get(id); live && e.opt.Lifecycle.Stage(factsOf(row), e.opt.Now()) == memory.Active {
			moves = append(moves, rekindle.Move{ID: id, From: memory.Demoted, To: memory.Active})
		}
	}
	r := agingRun{e: e, by: agingActor(), now: e.opt.Now()}
	err := r.shift(ctx, wakeVerb, moves)
	if ctx.Err() == nil {
		e.chores.settle("waking of memories that were used", err)
	}
}

// shift changes the stage of memories that keep their text, in one line of the log.
// Those that are not as they were planned are skipped.
func (r *agingRun) shift(ctx context.Context, verb string, moves []rekindle.Move) error {
	for some := range slices.Chunk(moves, shiftAtOnce) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ids := make([]memory.ID, len(some))
		for i, m := range some {
			ids[i] = m.ID
		}
		var done []memory.ID
		receipt, err := r.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
			tx := &stm.Tx{Verb: verb, By: r.by, Entry: r.res.Tx}
			for i, m := range some {
				if why := overtaken(rows[i], m); why != "" {
					r.skip(m.ID, why)
					continue
				}
				if err := r.tellNote(rows[i]); err != nil {
					return nil, err
				}
				set := map[string]json.RawMessage{"stage": json.RawMessage(`"` + m.To + `"`)}
				tx.Changes = append(tx.Changes, stm.Change{ID: m.ID, Set: set})
				done = append(done, m.ID)
			}
			return tx, nil
		})
		if err != nil {
			return err
		}
		r.wrote(receipt.Entry)
		r.moved(verb, done)
		r.went(ctx, len(some))
	}
	return nil
}

// overtaken is why a memory is not moved although that was planned.
func overtaken(row *stm.Row, m rekindle.Move) string {
	switch {
	case row == nil:
		return "it was forgotten meanwhile"
	case row.Stage() != m.From:
		return fmt.Sprintf("it is %s already", row.Stage())
	case m.To == memory.Active:
		return ""
	case row.Core():
		return "it is a core memory, and those never fade"
	case !row.LastUsed().Equal(m.Used):
		return "it was used meanwhile"
	}
	return ""
}

// tellNote keeps a note true that states the stage of its memory.
func (r *agingRun) tellNote(row *stm.Row) error {
	if r.e.notes == nil || row.Fields()["note_seen"] == nil {
		return nil
	}
	m, err := row.Memory()
	if err == nil {
		err = r.e.tellStage(&m, r.by)
	}
	return err
}
