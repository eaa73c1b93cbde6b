package promote

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

	"emberd/engine/core"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
)

// How long a write to a note waits before the next try. The wait doubles each time.
const (
	FirstTry = 10 * time.Second
	LastTry  = 24 * time.Hour
)

// The kinds of queued writes.
const (
	CreateNote = "create" // create a note of the memory
	UpdateNote = "update" // write some fields
	RemoveNote = "remove" // remove the note of an archiving that was undone
)

// PendingWrite is a queued write to a note. It names fields and no text: the memory's values
// at the time of the write are used.
type PendingWrite struct {
	Memory memory.ID    `json:"memory"`
	What   string       `json:"what"`
	Path   string       `json:"path"`
	Fields []string     `json:"fields,omitempty"`
	By     memory.Actor `json:"by"`
	Entry  string       `json:"entry,omitempty"` // change that it belongs to
	Since  time.Time    `json:"since"`
	Tries  int          `json:"tries"`
	Next   time.Time    `json:"next"`
	Reason string       `json:"reason"`
}

// PendingWrites is the queue of writes, oldest first and at most one for each memory. When Put, PutAll or Drop
// returns nil, the file is on disk. What a try of a write changes is on disk with the next of these or with
// Flush, because a write that is tried again changes nothing.
type PendingWrites struct {
	fs   durable.FS
	File string

	// mu is held through each change of the queue and of its file. Methods that only read use
	// the list in the atomic pointer and do not take it. It may be taken with a row locked or
	// NoteWriter.Mu held.
	mu    sync.Mutex
	all   atomic.Pointer[[]PendingWrite]
	dirty bool // the file is older than all
}

// OpenPending reads the queue of the last run. If the file cannot be parsed, OpenPending keeps
// it under another name and returns an error together with an empty queue.
func OpenPending(fsys durable.FS, state string) (*PendingWrites, error) {
	p := &PendingWrites{fs: fsys, File: filepath.Join(state, "pending", "notes.json")}
	data, err := core.LastState(fsys, p.File)
	if err != nil || data == nil {
		return p, err
	}
	var all []PendingWrite
	if err := json.Unmarshal(data, &all); err != nil {
		return p, errors.Join(fmt.Errorf("%s has an invalid format, so emberd renamed the file to %s.damaged: %w",
			p.File, p.File, err),
			fsys.Rename(p.File, p.File+".damaged"))
	}
	p.all.Store(&all)
	return p, nil
}

// newPendingWrite returns a write to a note that could not be made now, with the reason.
func newPendingWrite(e *Promote, id memory.ID, what, path string, by memory.Actor, reason string) PendingWrite {
	now := e.Opt.Now()
	return PendingWrite{Memory: id, What: what, Path: path, By: by, Since: core.StampTime(now),
		Next: core.StampTime(now.Add(FirstTry)), Reason: reason}
}

// change applies fn to a copy of the queue, and writes the file if it is older than the result.
func (p *PendingWrites) change(fn func(all []PendingWrite) ([]PendingWrite, bool)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, changed := fn(p.List())
	if !changed && !p.dirty {
		return nil
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = durable.ReplaceFile(p.fs, p.File, data)
	}
	if err != nil {
		return memory.Errorf(diskCode(err),
			"cannot queue the write of a note, because emberd cannot write to the state folder: %w", err)
	}
	p.all.Store(&all)
	p.dirty = false
	return nil
}

// tried applies fn to a copy of the queue after a try of a write. Flush writes the file.
func (p *PendingWrites) tried(fn func(all []PendingWrite) ([]PendingWrite, bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all, changed := fn(p.List()); changed {
		p.all.Store(&all)
		p.dirty = true
	}
}

// Flush writes the file if it is older than the queue.
func (p *PendingWrites) Flush() error {
	return p.change(func(all []PendingWrite) ([]PendingWrite, bool) { return all, false })
}

// At returns the index of a memory's write in the queue, or -1.
func At(all []PendingWrite, id memory.ID) int {
	return slices.IndexFunc(all, func(w PendingWrite) bool { return w.Memory == id })
}

// Put queues a write and joins it with one of the same memory. The creation of a note includes
// all fields.
func (p *PendingWrites) Put(w PendingWrite) error { return p.PutAll([]PendingWrite{w}) }

// PutAll is Put for many writes, with one write of the file.
func (p *PendingWrites) PutAll(some []PendingWrite) error {
	return p.change(func(all []PendingWrite) ([]PendingWrite, bool) {
		changed := false
		for _, w := range some {
			i := At(all, w.Memory)
			switch {
			case i < 0:
				all = append(all, w)
			case all[i].covers(&w):
				continue
			default:
				all[i] = all[i].joined(w)
			}
			changed = true
		}
		return all, changed
	})
}

// joined returns a later write of the same memory with what the earlier one was to do.
func (w *PendingWrite) joined(later PendingWrite) PendingWrite {
	later.Since = w.Since
	if w.What == CreateNote || later.What == CreateNote {
		later.What, later.Fields = CreateNote, nil
	} else {
		later.Fields = union(w.Fields, later.Fields)
	}
	return later
}

// covers reports whether a queued write does what another one would, as soon as it may: it writes the values
// that the memory has then.
func (w *PendingWrite) covers(later *PendingWrite) bool {
	lacks := func(field string) bool { return !slices.Contains(w.Fields, field) }
	return w.What == UpdateNote && later.What == UpdateNote && w.Path == later.Path && w.Entry == later.Entry &&
		(later.Next.After(later.Since) || !w.Next.After(later.Next)) && !slices.ContainsFunc(later.Fields, lacks)
}

func union(a, b []string) []string {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	return slices.Compact(all)
}

// Drop removes a memory's write from the queue.
func (p *PendingWrites) Drop(id memory.ID) error { return p.change(without(id)) }

// made removes a memory's write from the queue after it was made, or turned out to be needless.
func (p *PendingWrites) made(id memory.ID) { p.tried(without(id)) }

// madeCreate removes the creation of a memory's note from the queue, and nothing else.
func (p *PendingWrites) madeCreate(id memory.ID) {
	if w, queued := p.of(id); queued && w.What == CreateNote {
		p.made(id)
	}
}

// without removes the write of a memory from a queue.
func without(id memory.ID) func(all []PendingWrite) ([]PendingWrite, bool) {
	return func(all []PendingWrite) ([]PendingWrite, bool) {
		i := At(all, id)
		if i < 0 {
			return all, false
		}
		return slices.Delete(all, i, i+1), true
	}
}

// Leave removes fields from a memory's write to its note, because the note decides them: the user has changed
// them there.
func (p *PendingWrites) Leave(id memory.ID, fields []string) error {
	return p.change(func(all []PendingWrite) ([]PendingWrite, bool) {
		i := At(all, id)
		if i < 0 || all[i].What != UpdateNote {
			return all, false
		}
		stays := slices.DeleteFunc(slices.Clone(all[i].Fields),
			func(field string) bool { return slices.Contains(fields, field) })
		switch len(stays) {
		case len(all[i].Fields):
			return all, false
		case 0:
			return slices.Delete(all, i, i+1), true
		}
		all[i].Fields = stays
		return all, true
	})
}

// postpone sets the next try, not before until. The wait is longer than the last one.
func (p *PendingWrites) postpone(id memory.ID, reason string, now, until time.Time) {
	p.tried(func(all []PendingWrite) ([]PendingWrite, bool) {
		i := At(all, id)
		if i < 0 {
			return all, false
		}
		w := &all[i]
		w.Next, w.Reason = now.Add(BackOff(FirstTry, LastTry, w.Tries)), reason
		if until.After(w.Next) {
			w.Next = until
		}
		w.Tries++
		return all, true
	})
}

// hold records why a write that a request has just tried waits. It does not count as a try, so many requests do
// not make the write wait longer.
func (p *PendingWrites) hold(id memory.ID, reason string, now, until time.Time) {
	p.tried(func(all []PendingWrite) ([]PendingWrite, bool) {
		i := At(all, id)
		if i < 0 {
			return all, false
		}
		w, latest := &all[i], now.Add(FirstTry)
		if until.After(latest) {
			latest = until
		}
		if w.Reason == reason && w.Next.After(now) && !w.Next.After(latest) {
			return all, false
		}
		w.Next, w.Reason, w.Tries = latest, reason, 0
		return all, true
	})
}

// hasten makes a memory's write due at now.
func (p *PendingWrites) hasten(id memory.ID, now time.Time) error {
	return p.change(func(all []PendingWrite) ([]PendingWrite, bool) {
		i := At(all, id)
		if i < 0 || !all[i].Next.After(now) {
			return all, false
		}
		all[i].Next, all[i].Tries = now, 0
		return all, true
	})
}

// hastenAll makes every write due at now.
func (p *PendingWrites) hastenAll(now time.Time) error {
	return p.change(func(all []PendingWrite) ([]PendingWrite, bool) {
		for i := range all {
			all[i].Next, all[i].Tries = now, 0
		}
		return all, len(all) > 0
	})
}

// BackOff returns the wait after so many tries: it doubles each time, up to last.
func BackOff(first, last time.Duration, tries int) time.Duration {
	wait := first
	for range tries {
		if wait = 2 * wait; wait >= last {
			return last
		}
	}
	return wait
}

// due returns the writes to try at now, and when the next one is due, zero for none.
func (p *PendingWrites) due(now time.Time) (due []PendingWrite, next time.Time) {
	for _, w := range p.List() {
		if !w.Next.After(now) {
			due = append(due, w)
		}
		if next.IsZero() || w.Next.Before(next) {
			next = w.Next
		}
	}
	return due, next
}

// List returns a copy of the queue. It takes no lock.
func (p *PendingWrites) List() []PendingWrite {
	if all := p.all.Load(); all != nil {
		return slices.Clone(*all)
	}
	return nil
}

// of returns the queued write of a memory.
func (p *PendingWrites) of(id memory.ID) (w PendingWrite, queued bool) {
	all := p.List()
	if i := At(all, id); i >= 0 {
		return all[i], true
	}
	return w, false
}

// Fields returns the fields of a memory that are queued for its note. The note's values are
// older.
func (p *PendingWrites) Fields(id memory.ID) []string {
	all := p.List()
	if i := At(all, id); i >= 0 {
		return all[i].Fields
	}
	return nil
}

// why returns the reason for waiting; a new write has none yet.
func (w *PendingWrite) why() string {
	return cmp.Or(w.Reason, "emberd has not tried to write the note yet")
}

// Shown returns the write as callers see it.
func (w *PendingWrite) Shown() op.PendingWrite {
	return op.PendingWrite{Path: w.Path, Reason: w.why(), Since: w.Since, Next: w.Next}
}

// PendingStatus adds the queued writes to the status of a vault.
func (e *Promote) PendingStatus(v *op.VaultStatus) {
	const first = 3
	all := e.Pending.List()
	v.Pending, v.Aside = len(all), e.Writing.aside.Load()
	for _, w := range all[:min(first, len(all))] {
		v.PendingFirst = append(v.PendingFirst, w.Shown())
	}
}

// PendingFindings returns the queued writes as a vault check lists them.
func (e *Promote) PendingFindings() []op.Finding {
	var out []op.Finding
	for _, w := range e.Pending.List() {
		what := "will be created for memory " + w.Memory.Short()
		switch w.What {
		case UpdateNote:
			what = "will receive " + strings.Join(w.Fields, ", ") + " of memory " + w.Memory.Short()
		case RemoveNote:
			what = "will be deleted, because the archiving of memory " + w.Memory.Short() + " was undone"
		}
		out = append(out,
			op.Finding{Kind: "pending", Path: w.Path, Text: fmt.Sprintf("this note %s; reason for the delay: %s", what,
				w.why())})
	}
	return out
}
