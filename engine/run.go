package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// snapshotDelay is how long a change may wait before a snapshot is considered.
// Snapshots only make the next start faster, so they are not worth a wake-up
// unless something changed.
const snapshotDelay = time.Minute

// chores is what the actors tell about themselves, for status.
type chores struct {
	mu     sync.Mutex // guards what follows
	timers map[string]time.Duration
	faults map[string]error
}

// Run does the housekeeping until ctx is done or the engine is closed, and then
// returns nil: it builds the word index, has memories fade and
// be promoted, and writes snapshots and compacts the log while things change. An engine without Run works, only slower. One Run at a time.
func (e *Engine) Run(ctx context.Context) error {
	if !e.running.TryLock() {
		return errors.New("the engine is running or closed already")
	}
	defer e.running.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	var actors sync.WaitGroup
	actors.Go(func() {
		e.buildIndex(ctx)
		e.learnNames(ctx)
		e.lookForSecrets(ctx, nil)
		e.keepTidy(ctx)
	})
	actors.Go(func() { e.share(ctx) })
	actors.Go(func() { e.keepPast(ctx) })
	actors.Go(func() { e.keepAging(ctx) })
	actors.Go(func() { e.keepCleaning(ctx) })
	actors.Go(func() { e.keepAgents(ctx) })
	actors.Go(func() { e.keepLedger(ctx) })
	if e.mirror != nil {
		actors.Go(func() { e.keepMirror(ctx) })
	}
	if e.meaning != nil {
		actors.Go(func() { e.keepMeaning(ctx) })
		actors.Go(func() { e.meaning.keepAnswering(ctx) })
	}
	if e.notes != nil {
		actors.Go(func() { e.notes.run(ctx) })
		actors.Go(func() { e.truth.run(ctx) })
		actors.Go(func() { e.keepWriting(ctx) })
		actors.Go(func() { e.keepLists(ctx) })
		actors.Go(func() { e.keepWaking(ctx) })
		actors.Go(func() { e.readEntities(ctx) })
	}
	select {
	case <-ctx.Done():
	case <-e.closing:
	}
	cancel()
	actors.Wait()
	return nil
}

func (e *Engine) buildIndex(ctx context.Context) {
	start := time.Now()
	err := e.stm.BuildIndex(ctx)
	if ctx.Err() != nil {
		return
	}
	e.chores.settle("word index", err)
	if err != nil {
		e.opt.Logger.Error("word index incomplete, searches scan", "err", err)
		return
	}
	e.indexed.Store(true)
	e.opt.Logger.Debug("word index complete", "memories", e.stm.Len(), "took", time.Since(start))
	e.changed()
}

// keepTidy arms a timer at the first change and looks, when it fires, whether a
// snapshot or a compaction is due. With no change nothing ticks, unless a
// compaction is to be finished or tried again.
func (e *Engine) keepTidy(ctx context.Context) {
	const name = "snapshot"
	defer e.chores.disarm(name)
	c := compactor{e: e, made: e.started}
	defer e.chores.disarm(c.name())
	again := c.look(ctx)
	var due <-chan time.Time
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-e.dirty:
			if due == nil {
				due = time.After(snapshotDelay)
				e.chores.arm(name, snapshotDelay)
			}
		case <-due:
			due = nil
			e.chores.disarm(name)
			e.writeSnapshot(ctx)
			if e.writing != nil {
				e.writing.nudge() // backups of notes grow old
			}
			if again == nil {
				again = c.look(ctx)
			}
		case <-again:
			again = c.look(ctx)
		}
	}
}

func (e *Engine) writeSnapshot(ctx context.Context) {
	if !e.stm.SnapshotDue() {
		return
	}
	err := e.stm.WriteSnapshot(ctx)
	if ctx.Err() != nil {
		return
	}
	e.chores.settle("snapshot", err)
	if err != nil {
		e.opt.Logger.Error("snapshot not written, the next start takes longer", "err", err)
	}
	// A snapshot takes as much memory again as the store for a moment. What it
	// took would stay with a daemon that is idle from here on.
	debug.FreeOSMemory()
}

// changed tells Run that there is something to do. It never waits.
func (e *Engine) changed() {
	nudge(e.dirty)
	nudge(e.shared)
	nudge(e.aging.look)
	nudge(e.caring.look)
}

// nudge leaves a token in a channel that has room for one. One that is there already
// stands for it too.
func nudge(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

func (c *chores) arm(name string, period time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers == nil {
		c.timers = make(map[string]time.Duration)
	}
	c.timers[name] = period
}

func (c *chores) disarm(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.timers, name)
}

// settle records how the last attempt at a chore ended.
func (c *chores) settle(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.faults, name)
	if err == nil {
		return
	}
	if c.faults == nil {
		c.faults = make(map[string]error)
	}
	c.faults[name] = err
}

// problem is how the last attempt at a chore failed, "" if it did not.
func (c *chores) problem(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.faults[name]; err != nil {
		return err.Error()
	}
	return ""
}

// report returns the armed timers with their periods, and one sentence for
// every chore whose last attempt failed.
func (c *chores) report() (timers map[string]string, warnings []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, period := range c.timers {
		if timers == nil {
			timers = make(map[string]string)
		}
		timers[name] = period.String()
	}
	for _, name := range slices.Sorted(maps.Keys(c.faults)) {
		warnings = append(warnings, fmt.Sprintf("the %s could not be completed: %v", name, c.faults[name]))
	}
	return timers, warnings
}
