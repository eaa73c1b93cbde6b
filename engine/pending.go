package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// How long a change of a note waits before it is tried again: twice as long each time.
const (
	firstTry = 10 * time.Second
	lastTry  = 24 * time.Hour
)

// What is to be done to a note.
const (
	createNote = "create" // of the memory as it is then
	updateNote = "update" // some fields, to what they are then
)

// pendingWrite is a change of a note that waits. It names fields and no text: what is
// written is the memory as it is when the time comes.
type pendingWrite struct {
	Memory memory.ID    `json:"memory"`
	What   string       `json:"what"`
	Path   string       `json:"path"`
	Fields []string     `json:"fields,omitempty"`
	By     memory.Actor `json:"by"`
	Entry  string       `json:"entry,omitempty"` // journal entry that it belongs to
	Since  time.Time    `json:"since"`
	Tries  int          `json:"tries"`
	Next   time.Time    `json:"next"`
	Reason string       `json:"reason"`
}

// pendingWrites is the queue of them, the oldest first and at most one a memory. It is
// on the disk whenever a call returns nil.
type pendingWrites struct {
	fs   durable.FS
	file string

	mu  sync.Mutex // held through each change
	all atomic.Pointer[[]pendingWrite]
}

// openPending reads what the last run left. A file that cannot be understood is kept
// aside, and the error says so; the queue is empty then and can be used.
func openPending(fsys durable.FS, state string) (*pendingWrites, error) {
	p := &pendingWrites{fs: fsys, file: filepath.Join(state, "pending", "notes.json")}
	data, err := lastState(fsys, p.file)
	if err != nil || data == nil {
		return p, err
	}
	var all []pendingWrite
	if err := json.Unmarshal(data, &all); err != nil {
		return p, errors.Join(fmt.Errorf("%s cannot be understood and is kept as %s.damaged: %w", p.file, p.file, err), fsys.Rename(p.file, p.file+".damaged"))
	}
	p.all.Store(&all)
	return p, nil
}

// laterWrite is a change of a note that could not be made now, and why.
func (e *Engine) laterWrite(id memory.ID, what, path string, by memory.Actor, reason string) pendingWrite {
	now := e.opt.Now()
	return pendingWrite{Memory: id, What: what, Path: path, By: by, Since: stampTime(now), Next: stampTime(now.Add(firstTry)), Reason: reason}
}

// change applies fn to a copy of the queue and writes it, if fn reports a change.
func (p *pendingWrites) change(fn func(all []pendingWrite) ([]pendingWrite, bool)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, changed := fn(p.list())
	if !changed {
		return nil
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = durable.ReplaceFile(p.fs, p.file, data)
	}
	if err != nil {
		return memory.Errorf(diskCode(err), "the write of a note could not be queued, for the disk of the state folder fails: %w", err)
	}
	p.all.Store(&all)
	return nil
}

func at(all []pendingWrite, id memory.ID) int {
	return slices.IndexFunc(all, func(w pendingWrite) bool { return w.Memory == id })
}

// put queues a change, together with one of the same memory that waits already. A
// note that is to be made is made of all the memory then.
func (p *pendingWrites) put(w pendingWrite) error {
	return p.change(func(all []pendingWrite) ([]pendingWrite, bool) {
		i := at(all, w.Memory)
		if i < 0 {
			return append(all, w), true
		}
		old := all[i]
		w.Since = old.Since
		if old.What == createNote || w.What == createNote {
			w.What, w.Fields = createNote, nil
		} else {
			w.Fields = union(old.Fields, w.Fields)
		}
		all[i] = w
		return all, true
	})
}

func union(a, b []string) []string {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	return slices.Compact(all)
}

// made takes off the queue that a note is to be made of a memory, and nothing else.
func (p *pendingWrites) made(id memory.ID) error {
	if all := p.list(); !slices.ContainsFunc(all, func(w pendingWrite) bool { return w.Memory == id && w.What == createNote }) {
		return nil
	}
	return p.drop(id)
}

// drop takes what waits for a memory off the queue.
func (p *pendingWrites) drop(id memory.ID) error {
	return p.change(func(all []pendingWrite) ([]pendingWrite, bool) {
		i := at(all, id)
		if i < 0 {
			return all, false
		}
		return slices.Delete(all, i, i+1), true
	})
}

// postpone puts the next try later than the last one, and not before until.
func (p *pendingWrites) postpone(id memory.ID, reason string, now, until time.Time) error {
	return p.change(func(all []pendingWrite) ([]pendingWrite, bool) {
		i := at(all, id)
		if i < 0 {
			return all, false
		}
		w := &all[i]
		w.Next, w.Reason = now.Add(backOff(firstTry, lastTry, w.Tries)), reason
		if until.After(w.Next) {
			w.Next = until
		}
		w.Tries++
		return all, true
	})
}

// backOff is how long to wait after so many tries: twice as long each time, up to last.
func backOff(first, last time.Duration, tries int) time.Duration {
	wait := first
	for range tries {
		if wait = 2 * wait; wait >= last {
			return last
		}
	}
	return wait
}

// due returns what is to be tried at now, and when there will be more, the zero time
// if nothing waits.
func (p *pendingWrites) due(now time.Time) (due []pendingWrite, next time.Time) {
	for _, w := range p.list() {
		if !w.Next.After(now) {
			due = append(due, w)
		}
		if next.IsZero() || w.Next.Before(next) {
			next = w.Next
		}
	}
	return due, next
}

func (p *pendingWrites) list() []pendingWrite {
	if all := p.all.Load(); all != nil {
		return slices.Clone(*all)
	}
	return nil
}

// fields are those of a memory that its note is still to be told: what the note says of
// them is older.
func (p *pendingWrites) fields(id memory.ID) []string {
	all := p.list()
	if i := at(all, id); i >= 0 {
		return all[i].Fields
	}
	return nil
}

// why is the reason for waiting; one that was queued a moment ago has none yet.
func (w *pendingWrite) why() string { return cmp.Or(w.Reason, "it was not tried yet") }

func (w *pendingWrite) shown() op.PendingWrite {
	return op.PendingWrite{Path: w.Path, Reason: w.why(), Since: w.Since, Next: w.Next}
}

// pendingStatus tells of the changes that wait.
func (e *Engine) pendingStatus(v *op.VaultStatus) {
	const first = 3
	all := e.pending.list()
	v.Pending, v.Aside = len(all), e.writing.aside.Load()
	for _, w := range all[:min(first, len(all))] {
		v.PendingFirst = append(v.PendingFirst, w.shown())
	}
}

// pendingFindings are the changes of notes that wait, as a vault check lists them.
func (e *Engine) pendingFindings() []op.Finding {
	var out []op.Finding
	for _, w := range e.pending.list() {
		what := "is to be made of memory " + w.Memory.Short()
		if w.What == updateNote {
			what = "is to get " + strings.Join(w.Fields, ", ") + " of memory " + w.Memory.Short()
		}
		out = append(out, op.Finding{Kind: "pending", Path: w.Path, Text: fmt.Sprintf("this note %s and waits: %s", what, w.why())})
	}
	return out
}
