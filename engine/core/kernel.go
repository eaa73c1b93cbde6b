// Package core is the kernel of the engine. It has the settings, clock, events, counters and
// jobs, the view of the log for a caller's permissions, and the rules by which every feature
// checks requests.
//
// Guarantee: core imports no feature, and a [View] reaches only what its permissions cover.
package core

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/access"
	"emberd/internal/contain"
	"emberd/internal/durable"
	"emberd/internal/ledger"
	"emberd/internal/text/analysis"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// View is the kernel for callers with the same permissions. Stm contains only the memories
// that they can read, and refuses other changes. A View does not change after it is built; any
// goroutine may use it.
type View struct {
	*Kernel
	Grant *access.Grant // permissions, nil for all
	Stm   *stm.Store
}

// Kernel is what all views share: settings, clock, events, counters and signals. There is one
// for each engine.
//
// Any goroutine may use it. engine.Open sets the plain fields before it returns, and nothing
// changes them after that. All other fields are atomics, channels, or types with a lock of
// their own that they release before they return.
//
// Locks are taken in this order: Requests, the lock of a feature's run (such as the
// lifecycle's Running), row locks of the store, a feature's mu. A goroutine that holds a
// feature's mu does not update the store, and it holds one of them at a time, except where the
// field's comment says otherwise. After each change the store calls the engine on its writer
// goroutine, which must not wait: every feature only marks what changed.
type Kernel struct {
	Opt     Options
	Started time.Time
	Lock    *durable.Lock // of the state folder; Close releases it last

	Text *analysis.Analyzer // analyzes texts and queries of memories and notes alike

	// Purges counts purges. An operation that sees it change drops what its answer left in
	// memory of the purged texts.
	Purges atomic.Int64

	EventLog *events
	Chores   jobs

	Vitals Counters

	Tokens *access.Store

	Ledger   *ledger.Ledger
	Revision atomic.Uint64 // counts changes of memories and their use; caches compare it
	Indexed  atomic.Bool   // the word index is complete, and every change keeps it so

	// Requests guards Closed. Every operation holds it for reading until it returns. Close
	// takes it for writing and so waits for the running operations, sets Closed and releases
	// it. It is the first lock that a goroutine takes; background tasks do not take it.
	Requests sync.RWMutex
	Closed   bool

	// Running is held by Run until all its goroutines have ended. Close takes it after
	// Requests and never releases it, so that no other Run begins.
	Running sync.Mutex
	Closing chan struct{} // closed by Close, before it waits for Running

	// Dirty and Shared have room for one token, which a change leaves with Nudge. One task
	// receives from each: the snapshot task, and the task that announces changes to other
	// devices.
	Dirty   chan struct{}
	Shared  chan struct{}
	Signals []chan<- struct{} // every change sends a token to each, see Changed
	Hooks   Hooks

	// Cleaning is true while a cleanup run writes its change, which an undo must not revert
	// in the meantime.
	Cleaning atomic.Bool
	// Uncounted has room for one token: the ledger has counts that its file does not have.
	Uncounted chan struct{}
}

// Hooks are the functions of features that the kernel calls. engine.Open sets all of them. Any
// goroutine may call them, without a lock of the kernel.
type Hooks struct {
	Embedded     func(*stm.Row) string // name of the model that embedded the text of a memory, "" for none
	Touched      func([]memory.ID)     // memories changed; nil: any may have changed
	ForgetEchoes func()                // drops the fingerprints of returned texts
	// NoteClaims asks the user whether a note with the ID of a memory is that memory's note. left says why it was not
	// merged into the memory's note, "" if it is no copy of that.
	NoteClaims func(ctx context.Context, id memory.ID, note *vault.Note, left string) error
	// OtherTexts adds to the change of a locked memory the question which of several texts it is to have.
	OtherTexts func(row *stm.Row, set map[string]json.RawMessage, others []memory.OtherText)
	// CopyTaken lists in the history that a copy of the note of a memory, with this text, was taken away.
	CopyTaken func(path string, text []byte) error
	Status    func(*access.Grant) *op.StatusResult // status as a caller with that grant sees it
}

// Typed gives an error without a code a code: Unavailable if the caller canceled the request,
// else Internal.
func Typed(s *op.Spec, err error) error {
	if e, ok := errors.AsType[*memory.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return memory.Errorf(memory.Unavailable, "%s was canceled (%w); try again", s.Name, err)
	}
	if contain.Of(err) != nil && s.Effect != op.Read {
		return memory.Errorf(memory.Internal,
			"unknown whether %s changed anything, because %w; check before you repeat the operation", s.Name, err)
	}
	return memory.Errorf(memory.Internal, "%s: %w", s.Name, err)
}

// Missing returns the error for an ID without a live memory.
func (e *View) Missing(id memory.ID) error {
	if e.Stm.Trashed(id) {
		return memory.Errorf(memory.NotFound, "memory %s is in the trash; restore it with emberd rekindle %s", id,
			id.Short()).At("id")
	}
	return memory.Errorf(memory.NotFound, "memory %s not found; run: emberd list", id).At("id")
}

// Find returns the live memory with a full or shortened ID.
func (e *View) Find(short string) (*stm.Row, error) {
	id, err := e.Stm.Resolve(short)
	if err != nil {
		return nil, err
	}
	row, ok := e.Stm.Get(id)
	if !ok {
		return nil, e.Missing(id)
	}
	return row, nil
}
