package freemem

import (
	"context"
	"runtime"
	"testing"
	"time"

	"emberd/internal/testutil/bubble"
)

// Each collection is told of, and none after the end of the context.
func TestTellCollections(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	collected := make(chan struct{}, 1)
	tellCollections(ctx, collected)
	for range 3 {
		collectUntil(collected)
	}
	end()
	runtime.GC()
	runtime.GC()
	select { // one may have been told of before the end
	case <-collected:
	default:
	}
	runtime.GC()
	select {
	case <-collected:
		t.Error("a collection is told of after the end")
	default:
	}
}

// collectUntil collects garbage until a channel has something: what a collection frees may not be allocated yet.
func collectUntil(told <-chan struct{}) {
	for {
		runtime.GC()
		select {
		case <-told:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// The wait begins again with each collection, and ends with the context.
func TestWaitUntilQuiet(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		collected := make(chan struct{}, 1)
		begun := time.Now()
		time.AfterFunc(quiet-time.Second, func() { collected <- struct{}{} })
		if !waitUntilQuiet(ctx, quiet, collected) {
			t.Error("the wait says that the context has ended")
		}
		if got, want := time.Since(begun), 2*quiet-time.Second; got != want {
			t.Errorf("the wait took %v, want %v", got, want)
		}
		end()
		if waitUntilQuiet(ctx, quiet, collected) {
			t.Error("the wait does not end with the context")
		}
	})
}

var sink []byte

// What was allocated before the start and later is followed by one call each; without that there is none.
func TestAfterWork(t *testing.T) {
	sink = make([]byte, worth)
	ctx, end := context.WithCancel(t.Context())
	freed, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		afterWork(ctx, time.Millisecond, func() { freed <- struct{}{} })
	}()
	<-freed
	runtime.GC() // without work
	sink = make([]byte, worth)
	collectUntil(freed)
	end()
	<-ended
}
