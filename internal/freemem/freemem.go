// Package freemem gives memory back to the system when a process has finished some work.
//
// The Go runtime collects garbage when the heap has grown by half to all of what is in use, or else after two
// minutes, and gives back what that frees a little at a time. A process that does much and then nothing would keep
// for minutes what only the work needed: several times its data.
package freemem

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// quiet is how long no collection may have begun until the work counts as finished.
	quiet = 15 * time.Second
	// worth is how many bytes must have been allocated since the last time. With fewer there is little to give back.
	worth = 4 << 20
)

// WhenQuiet collects garbage and gives free memory back after each time of work, until ctx ends. It regards its
// own start as the end of work. It waits for the runtime's collections, which only a process that allocates has
// often: without work it has no timer, and while there is work it does nothing.
// Before it collects it calls drop, which drops what can be made again.
func WhenQuiet(ctx context.Context, drop func()) {
	afterWork(ctx, quiet, func() {
		drop()
		debug.FreeOSMemory()
	})
}

// afterWork calls free when there was no collection for a while since much was allocated.
func afterWork(ctx context.Context, wait time.Duration, free func()) {
	collected := make(chan struct{}, 1)
	tellCollections(ctx, collected)
	for before := uint64(0); ; {
		if allocated()-before >= worth {
			if !waitUntilQuiet(ctx, wait, collected) {
				return
			}
			free()
			before = allocated()
		}
		select {
		case <-ctx.Done():
			return
		case <-collected:
		}
	}
}

// waitUntilQuiet returns when there was no collection for a while. It returns false if ctx ends before.
func waitUntilQuiet(ctx context.Context, wait time.Duration, collected <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-collected:
			timer.Reset(wait)
		case <-timer.C:
			return true
		}
	}
}

// allocated returns how many bytes of heap the process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// unreachable is what a collection frees. It has a pointer because the runtime may keep small values without one.
type unreachable struct{ _ *byte }

// tellCollections sends a token after each collection until ctx ends, unless one waits in the channel already.
func tellCollections(ctx context.Context, collected chan<- struct{}) {
	runtime.AddCleanup(new(unreachable), func(struct{}) {
		if ctx.Err() != nil {
			return
		}
		select {
		case collected <- struct{}{}:
		default:
		}
		tellCollections(ctx, collected)
	}, struct{}{})
}
