package notesync

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/internal/contain"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
	"emberd/watcher"
)

const (
	maxReadRetry = time.Hour // maximum wait before a note that cannot be read is tried again
)

// NoteSync applies note changes to memories: a note decides the fields of the memory whose ID
// it has. The goroutine that reads notes adds what it reads and what is gone to NoteChanges.
// The one goroutine of Task applies it when the note has stayed unchanged for a while.
//
// Only that goroutine updates the store: it takes a row's lock first, and NoteChanges.Mu and
// the lock of promote's PendingWrites inside it. It holds no lock of this package while it
// waits for a row.
type NoteSync struct {
	*NoteChanges
	e     *Sync
	self  string        // this device; does not change
	begun atomic.Bool   // the vault was read once; End sets it
	wake  chan struct{} // room for one token: something may be due earlier

	joined sync.Map // memory.ID to joinedNote; not kept over a restart

	// restoredMu guards restored and changed. The store's writer goroutine takes it in Committed, and Task in
	// EnqueueRestored, each for an append or a swap only. It is separate from NoteChanges.Mu,
	// which is held while a file is written.
	restoredMu sync.Mutex
	restored   []memory.ID
	changed    []memory.ID // by other devices, or forgotten or archived with copies of their notes
}

// NewNoteSync continues from the file of the last run.
func NewNoteSync(e *Sync) *NoteSync {
	file := filepath.Join(e.Opt.State, "settle", notes.StateName("notes", e.Notes.Vault.Dir)+".json")
	in, err := openNoteChanges(e.Opt.FS, file)
	if err != nil {
		e.Opt.Logger.Warn("list of note changes not read; emberd syncs the notes when they change again", "err", err)
	}
	return &NoteSync{NoteChanges: in, e: e, self: e.Stm.Status().Device, wake: make(chan struct{}, 1)}
}

// Wait returns how long a note must stay unchanged on this device.
func (t *NoteSync) Wait() time.Duration {
	if k := t.e.Stm.Primary().Device; k != (stm.Device{}) && k.String() != t.self {
		return t.e.Opt.Pace.Others
	}
	return t.e.Opt.Pace.Settle
}

// Begin marks the start of a batch with its renames.
func (t *NoteSync) Begin(moved []watcher.Move) {
	from := make([]string, len(moved))
	for i, m := range moved {
		from[i] = m.From
	}
	t.begin(moved, t.e.Notes.Vault.DigestsOf(from))
}

// Observe adds the changes that the index will get. A note whose fields were all applied
// before is not a change.
func (t *NoteSync) Observe(c *notes.NoteIDs, read []notes.Reading, gone []string) {
	// the name of a note starts like its text, which was purged
	gone = slices.DeleteFunc(slices.Clone(gone), func(path string) bool {
		id, carried := c.At(path)
		return carried && t.e.Stm.Purged(id)
	})
	read = slices.DeleteFunc(slices.Clone(read),
		func(r notes.Reading) bool { return r.Note != nil && t.inSync(c, r.Note) })
	t.NoteChanges.add(c, read, gone, t.e.Notes.Vault.DigestsOf(gone))
}

// inSync reports whether a memory has all fields of its note.
func (t *NoteSync) inSync(c *notes.NoteIDs, note *vault.Note) bool {
	id, err := memory.ParseID(note.MemoryID)
	if before, was := c.At(note.Path); err != nil || was && before != id || t.Contains(id) {
		return false
	}
	row, live := t.e.Stm.Get(id)
	if !live {
		return false
	}
	m, err := row.Memory()
	return err == nil && core.NotePath(&m) == note.Path && m.NoteGone.IsZero() &&
		promote.SameSeen(notes.Fingerprints(note.Carried), m.NoteSeen, notes.TakenOf(&m))
}

// End marks the end of a batch. The first one also queues the memories whose notes were never
// synced.
func (t *NoteSync) End() {
	due := time.Now().Add(t.Wait())
	if t.begun.CompareAndSwap(false, true) {
		t.Schedule(t.unlinkedMemories(), due, false)
	}
	t.NoteChanges.end(due)
	t.signal()
}

// EndOfOne marks that one note was read separately. Within a batch, the batch's end counts.
func (t *NoteSync) EndOfOne() {
	if !t.reads() {
		t.NoteChanges.end(time.Now().Add(t.Wait()))
		t.signal()
	}
}

// unlinkedMemories returns the memories that have a note but no path of it, or no record of
// its fields, or that are recorded to have none.
func (t *NoteSync) unlinkedMemories() []memory.ID {
	return slices.DeleteFunc(t.e.Notes.Vault.Carriers.IDs(), func(id memory.ID) bool {
		row, ok := t.e.Stm.Get(id)
		if !ok {
			return true
		}
		has := row.Fields()
		return (row.Promoted() || has["vault_path"] != nil) && has["note_seen"] != nil && has["note_gone"] == nil
	})
}

// Committed queues memories that were created, restored or promoted, because their notes may exist
// or have changed, those that a user decided about, because copies of their notes may wait for
// that, and those that were forgotten or archived and have copies. The store's writer goroutine calls
// it and waits, so it only records the IDs.
func (t *NoteSync) Committed(entry *stm.Entry) {
	switch entry.Verb {
	case "save", "import", "restore", "undo", core.PromoteVerb, core.CloseVerb:
		t.enqueue(t.withNotes(entry.IDs))
	case "forget", core.ArchiveVerb, core.FadeVerb:
		t.enqueueChanged(slices.DeleteFunc(slices.Clone(entry.IDs),
			func(id memory.ID) bool { return len(t.e.Notes.Vault.Carriers.Of(id)) < 2 }))
	}
}

// withNotes returns the memories whose ID a note carries.
func (t *NoteSync) withNotes(ids []memory.ID) []memory.ID {
	return slices.DeleteFunc(slices.Clone(ids),
		func(id memory.ID) bool { return len(t.e.Notes.Vault.Carriers.Of(id)) == 0 })
}

// Arrived is Committed for a change of another device, and queues every memory with a note: that device may
// have made the change before it knew of the note. A note that it made or moved may still be on its way, so
// that after a promotion the one that is here is not taken for a moved one.
func (t *NoteSync) Arrived(entry *stm.Entry) {
	if entry.Verb != core.PromoteVerb {
		t.Committed(entry)
	}
	t.enqueueChanged(t.withNotes(entry.IDs))
}

func (t *NoteSync) enqueueChanged(ids []memory.ID) {
	if len(ids) == 0 {
		return
	}
	t.restoredMu.Lock()
	t.changed = append(t.changed, ids...)
	t.restoredMu.Unlock()
	t.signal()
}

// EnqueueAll queues all memories with notes, because any of them may have changed.
func (t *NoteSync) EnqueueAll() { t.enqueue(t.e.Notes.Vault.Carriers.IDs()) }

func (t *NoteSync) enqueue(ids []memory.ID) {
	if len(ids) == 0 {
		return
	}
	t.restoredMu.Lock()
	t.restored = append(t.restored, ids...)
	t.restoredMu.Unlock()
	t.signal()
}

// EnqueueRestored schedules the memories that Committed and Arrived recorded.
func (t *NoteSync) EnqueueRestored() {
	t.restoredMu.Lock()
	restored, changed := t.restored, t.changed
	t.restored, t.changed = nil, nil
	t.restoredMu.Unlock()
	due := time.Now().Add(t.Wait())
	t.Schedule(restored, due, true)
	t.Schedule(changed, due, false)
}

// signal wakes up the task. It never blocks.
func (t *NoteSync) signal() { core.Nudge(t.wake) }

// Task applies the changes that are due. Without pending changes it has no timer.
func (t *NoteSync) Task() *core.Task {
	due := func() time.Time {
		next := t.Next()
		if next.IsZero() {
			return next
		}
		return t.e.Opt.Now().Add(time.Until(next)) // due times use the system clock
	}
	return &core.Task{Name: "note sync", First: due(), Wake: t.wake,
		Woken: func(time.Time) time.Time {
			t.EnqueueRestored()
			return due()
		},
		Do: func(ctx context.Context) time.Time {
			t.ProcessDue(ctx)
			return due()
		}}
}

// ProcessDue applies the change of every memory that is due. A change that fails is tried
// again, after a longer wait each time; so is one that panics, while the others are applied.
func (t *NoteSync) ProcessDue(ctx context.Context) {
	var lost []*NoteChange
	var failed error
	for _, w := range t.takeDue(time.Now()) {
		var became outcome
		err := contain.Do(t.e.Opt.Logger, contain.Note, string(w.ID), func() (err error) {
			became, err = t.applyChange(ctx, w)
			return err
		})
		switch {
		case err != nil:
			failed = err
			t.retryLater(w)
		case became == unclear:
			t.retryLater(w)
		case became == missing:
			lost = append(lost, w)
		default:
			t.ack(w)
		}
	}
	if err := t.TrashDeleted(ctx, lost); err != nil {
		failed = err
	}
	if err := t.store(); err != nil && failed == nil {
		failed = err
	}
	if ctx.Err() == nil {
		t.e.Chores.Settle("sync of notes to memories", failed)
	}
}

// retryLater tries again after twice the previous wait.
func (t *NoteSync) retryLater(w *NoteChange) {
	t.requeue(w, time.Now().Add(promote.BackOff(t.Wait(), maxReadRetry, w.tries)), false)
}

// confirmDeletions confirms the waiting deletions and returns how many there are.
func (t *NoteSync) confirmDeletions(by memory.Actor) (held int) {
	held = t.confirm(by, time.Now())
	t.signal()
	return held
}
