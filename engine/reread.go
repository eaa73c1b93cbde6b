package engine

import (
	"context"
	"sync"
)

// rereads are notes that are read by themselves, while a batch that was read before or
// meanwhile may name them, too.
type rereads struct {
	turn sync.Mutex // from the reading of a note to its place in the index: what was read later is taken in later

	mu   sync.Mutex
	busy map[string]int  // notes that have the turn, or wait for it
	done map[string]bool // notes that had it while a batch is read, nil while none is
}

func (r *rereads) enter(path string) {
	r.mu.Lock()
	if r.busy == nil {
		r.busy = make(map[string]int)
	}
	r.busy[path]++
	r.mu.Unlock()
	r.turn.Lock()
}

func (r *rereads) leave(path string) {
	r.turn.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[path]--; r.busy[path] == 0 {
		delete(r.busy, path)
	}
	if r.done != nil {
		r.done[path] = true
	}
}

// begin says that a batch is about to be read.
func (r *rereads) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = make(map[string]bool)
}

// end says that it is no more.
func (r *rereads) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = nil
}

// crossed reports whether a note of the batch may have been read by itself since.
func (r *rereads) crossed(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy[path] > 0 || r.done[path]
}

// reread takes in one note as it is now, without waiting for the watcher.
func (n *notes) reread(ctx context.Context, name string) error {
	if err := n.takeInOne(ctx, name, true); err != nil {
		return err
	}
	if n.complete.Load() {
		n.truth.endOfOne()
	}
	return nil
}

// takeIn applies what was read of a batch. A note that was read by itself meanwhile is read
// once more: nobody knows which of both readings is the older one.
func (n *notes) takeIn(ctx context.Context, read []reading) error {
	if err := n.apply(ctx, read, nil); err != nil {
		return err
	}
	for _, r := range read {
		if !n.rereads.crossed(r.doc.Path) {
			continue
		}
		if err := n.takeInOne(ctx, r.doc.Path, false); err != nil {
			return err
		}
	}
	return nil
}

// takeInOne reads one note and applies that. One that is not there counts as gone only if
// somebody knows so; else the watcher tells when it is gone for good.
func (n *notes) takeInOne(ctx context.Context, name string, mayGo bool) error {
	n.rereads.enter(name)
	defer n.rereads.leave(name)
	read := n.read(ctx, name)
	if ctx.Err() != nil { // that nothing was read says nothing
		return context.Cause(ctx)
	}
	if mayGo && read.note == nil && read.why == "" { // not there
		return n.apply(ctx, nil, []string{name})
	}
	return n.apply(ctx, []reading{read}, nil)
}
