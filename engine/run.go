package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/internal/contain"
)

// Run does the background work until ctx is done or the engine is closed, and then returns
// nil. It builds the word index, runs the lifecycle, writes snapshots and compacts the log. An
// engine without Run works, but slower. Run returns an error if it is running already or the
// engine is closed.
func (e *Engine) Run(ctx context.Context) error {
	if !e.Running.TryLock() {
		return errors.New("this instance of emberd is already running or closed")
	}
	defer e.Running.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	for _, do := range e.background() {
		work.Go(func() { e.keepRunning(ctx, do) })
	}
	select {
	case <-ctx.Done():
	case <-e.Closing:
	}
	cancel()
	work.Wait()
	return nil
}

// How long a function of background rests after a panic before it starts again.
const (
	minRestart = time.Second
	maxRestart = 10 * time.Minute
)

// keepRunning calls do, and calls it again after each panic, with a longer rest after each in a
// row, until ctx ends or do returns. The functions of background keep their state on the disk or
// compare with it when they start, so a new start finds what the panic left undone.
func (e *Engine) keepRunning(ctx context.Context, do func(context.Context)) {
	for rest := minRestart; ; rest = min(2*rest, maxRestart) {
		begun := time.Now()
		err := contain.Do(e.Opt.Logger, contain.Task, "background", func() error {
			do(ctx)
			return nil
		})
		if err == nil {
			return
		}
		e.Chores.Settle("background work", err)
		if time.Since(begun) > maxRestart {
			rest = minRestart
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
	}
}

// background returns the functions that Run starts, one goroutine each. Each returns when its
// context ends.
func (e *Engine) background() []func(context.Context) {
	indexed := make(chan struct{})
	once := sync.OnceFunc(func() { close(indexed) })
	all := []func(context.Context){func(ctx context.Context) { e.prepare(ctx, once) }, e.Admin.WatchDevices}
	for _, t := range slices.Concat(e.Admin.Tasks(), []*core.Task{e.Search.Task(), e.Cleanup.Task()},
		e.Lifecycle.Tasks(), e.Agents.Tasks(), e.Memories.Tasks(), []*core.Task{e.Texts.Task()}) {
		all = append(all, e.task(t))
	}
	if e.Opt.Hooks.Ask != nil {
		all = append(all, e.Sessions.RunModel)
	}
	if e.Review.Mirror != nil {
		all = append(all, e.task(e.Review.Task()))
	}
	if m := e.Semantic.Meaning; m != nil {
		all = append(all, m.RunQueryEmbedder, func(ctx context.Context) {
			select {
			case <-indexed: // vectors can wait for the words
				e.Semantic.RunEmbedder(ctx)
			case <-ctx.Done():
			}
		})
	}
	if v := e.Notes.Vault; v != nil {
		all = append(all, v.Run, e.Lifecycle.RunRekindler, e.Graph.ReadEntities,
			e.task(e.Sync.Sync.Task()), e.task(e.Promote.Task()), e.task(e.Lists.Task()), e.task(e.Links.Task()))
	}
	return all
}

func (e *Engine) task(t *core.Task) func(context.Context) {
	return func(ctx context.Context) { e.RunTask(ctx, t) }
}

// prepare builds the word index, calls indexed, and builds the other data derived from all memories. Then it runs the
// tasks of storage, which write snapshots and compact.
func (e *Engine) prepare(ctx context.Context, indexed func()) {
	e.Storage.BuildIndex(ctx)
	indexed()
	e.Graph.LearnNames(ctx)
	e.Admin.LookForSecrets(ctx, nil)
	var work sync.WaitGroup
	for _, t := range e.Storage.Tasks() {
		work.Go(func() { e.keepRunning(ctx, e.task(t)) })
	}
	work.Wait()
}
