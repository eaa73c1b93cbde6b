package notes

import (
	"context"
	"sync"
)

// rereads are notes that are read one at a time, while a batch may contain them too.
type rereads struct {
	// turn is held from the reading of a note until it is indexed, so that a later reading is
	// applied later. It is taken after row locks, because a promotion indexes its note with the
	// memory locked. The locks of VaultNotes and of its Follower are taken under it.
	turn sync.Mutex

	mu   sync.Mutex      // guards the fields below; held only to read or set them
	busy map[string]int  // notes that hold turn or wait for it
	done map[string]bool // notes that held it during the batch, nil outside of a batch
}

// Enter waits for turn and takes it, for some notes. Leave must follow.
func (r *rereads) Enter(paths ...string) {
	r.mu.Lock()
	if r.busy == nil {
		r.busy = make(map[string]int)
	}
	for _, path := range paths {
		r.busy[path]++
	}
	r.mu.Unlock()
	r.turn.Lock()
}

// Leave releases turn, and records that notes of the current batch were read separately.
func (r *rereads) Leave(paths ...string) {
	r.turn.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range paths {
		if r.busy[path]--; r.busy[path] == 0 {
			delete(r.busy, path)
		}
		if r.done != nil {
			r.done[path] = true
		}
	}
}

// Begin marks the start of a batch.
func (r *rereads) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = make(map[string]bool)
}

// End marks the end of a batch.
func (r *rereads) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = nil
}

// readSeparately reports whether a note of the batch may have been read separately since.
func (r *rereads) readSeparately(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy[path] > 0 || r.done[path]
}

// Reread reads and indexes notes now, as one batch, without waiting for the watcher.
func (n *VaultNotes) Reread(ctx context.Context, names ...string) error {
	if err := n.readAndApply(ctx, names, true); err != nil {
		return err
	}
	if n.Complete.Load() {
		n.Follower.EndOfOne()
	}
	return nil
}

// TakeIn applies part of a batch. It reads a note again that was read separately in the
// meantime, because the order of the two readings is unknown.
func (n *VaultNotes) TakeIn(ctx context.Context, read []Reading) error {
	if err := n.applyContained(ctx, read, nil); err != nil {
		return err
	}
	for _, r := range read {
		if !n.Rereads.readSeparately(r.Doc.Path) {
			continue
		}
		if err := n.readAndApply(ctx, []string{r.Doc.Path}, false); err != nil {
			return err
		}
	}
	return nil
}

// readAndApply reads and applies notes. It treats a missing note as deleted only if mayGo is
// set; otherwise the watcher reports the deletion.
func (n *VaultNotes) readAndApply(ctx context.Context, names []string, mayGo bool) error {
	n.Rereads.Enter(names...)
	defer n.Rereads.Leave(names...)
	var all []Reading
	var gone []string
	for _, name := range names {
		read := n.Read(ctx, name)
		if ctx.Err() != nil { // a canceled read proves nothing
			return context.Cause(ctx)
		}
		if mayGo && read.Note == nil && read.Why == "" { // not found
			gone = append(gone, name)
		} else {
			all = append(all, read)
		}
	}
	return n.applyContained(ctx, all, gone)
}

// Queued returns how many goroutines hold turn for a note or wait for it.
func (r *rereads) Queued(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy[path]
}
