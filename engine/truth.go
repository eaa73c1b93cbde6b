package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// How long notes have to be left alone before what they say is taken over.
const (
	settleAfter = time.Minute
	othersAfter = 90 * time.Second
	lastAgain   = time.Hour // between tries for a note that cannot be read
)

// pace is how long notes have to be left alone. Of several devices on one vault the
// keeper comes first, and the others find nothing left to do.
type pace struct{ settle, others, mirror time.Duration }

// What the journal says of changes that come from notes.
const (
	noteVerb = "note"
	goneVerb = "note gone"
)

func vaultActor() memory.Actor { return memory.Actor{Via: stm.Itself, Client: "vault"} }

// truth takes over into memories what their notes say, and what became of those: a note
// is the truth about the memory whose id it carries. What reconcile reads and loses is
// put into the mailbag, and settled by one goroutine when it has been left alone.
type truth struct {
	*mailbag
	e     *Engine
	self  string        // this device
	begun atomic.Bool   // the vault has been read; only end looks
	wake  chan struct{} // holds a token when there may be something due earlier

	reviving sync.Mutex // guards revived
	revived  []memory.ID
}

// newTruth goes on where the last run ended.
func newTruth(e *Engine) *truth {
	file := filepath.Join(e.opt.State, "settle", stateName("notes", e.notes.dir)+".json")
	in, err := openMailbag(e.opt.FS, file)
	if err != nil {
		e.opt.Logger.Warn("what changed in notes before the last end is taken over when they change again", "err", err)
	}
	return &truth{mailbag: in, e: e, self: e.stm.Status().Device, wake: make(chan struct{}, 1)}
}

// wait is how long this device waits.
func (t *truth) wait() time.Duration {
	if k := t.e.stm.Keeper().Device; k != (stm.Device{}) && k.String() != t.self {
		return t.e.opt.pace.others
	}
	return t.e.opt.pace.settle
}

// tell takes in what the index is about to hold. Notes that say what was taken over of
// them before are no news.
func (t *truth) tell(c *carriers, read []reading, gone []string) {
	gone = slices.DeleteFunc(slices.Clone(gone), func(path string) bool { // its name begins like the text
		id, carried := c.at(path)
		return carried && t.e.stm.Purged(id)
	})
	read = slices.DeleteFunc(slices.Clone(read), func(r reading) bool { return r.note != nil && t.settledOn(c, r.note) })
	t.mailbag.tell(c, read, gone)
}

// settledOn reports whether a memory has everything of its note.
func (t *truth) settledOn(c *carriers, note *vault.Note) bool {
	id, err := memory.ParseID(note.MemoryID)
	if before, was := c.at(note.Path); err != nil || was && before != id || t.waits(id) {
		return false
	}
	row, live := t.e.stm.Get(id)
	if !live {
		return false
	}
	m, err := row.Memory()
	return err == nil && homeOf(&m) == note.Path && m.NoteGone.IsZero() && sameSeen(fingerprints(note.Carried), m.NoteSeen, takenOf(&m))
}

// end says that a batch was read to its end. At the first, the notes of memories that
// were never settled count too.
func (t *truth) end() {
	due := time.Now().Add(t.wait())
	if t.begun.CompareAndSwap(false, true) {
		t.touch(t.strangers(), due, false)
	}
	t.mailbag.end(due)
	t.nudge()
}

// endOfOne says that a note was read by itself. Within a batch that one's end counts.
func (t *truth) endOfOne() {
	if !t.reads() {
		t.mailbag.end(time.Now().Add(t.wait()))
		t.nudge()
	}
}

// strangers are the memories that a note carries and that know of none, or not what it
// says.
func (t *truth) strangers() []memory.ID {
	return slices.DeleteFunc(t.e.notes.carriers.ids(), func(id memory.ID) bool {
		row, ok := t.e.stm.Get(id)
		if !ok {
			return true
		}
		has := row.Fields()
		return (row.Promoted() || has["vault_path"] != nil) && has["note_seen"] != nil
	})
}

// committed has memories looked at that came to life: their notes may be there
// already, or have changed meanwhile. The store waits for it, so that it only makes a
// note of them.
func (t *truth) committed(entry *stm.Entry) {
	if !slices.Contains([]string{"save", "import", "restore", "undo"}, entry.Verb) {
		return
	}
	t.lookAt(slices.DeleteFunc(slices.Clone(entry.IDs), func(id memory.ID) bool { return len(t.e.notes.carriers.of(id)) == 0 }))
}

// anything has all memories looked at that have notes: any of them may have changed.
func (t *truth) anything() { t.lookAt(t.e.notes.carriers.ids()) }

func (t *truth) lookAt(ids []memory.ID) {
	if len(ids) == 0 {
		return
	}
	t.reviving.Lock()
	t.revived = append(t.revived, ids...)
	t.reviving.Unlock()
	t.nudge()
}

// revive puts into the mailbag what committed has noted.
func (t *truth) revive() {
	t.reviving.Lock()
	ids := t.revived
	t.revived = nil
	t.reviving.Unlock()
	t.touch(ids, time.Now().Add(t.wait()), true)
}

// nudge has the goroutine look. It never waits.
func (t *truth) nudge() { nudge(t.wake) }

// run settles what is due until ctx ends. While nothing waits no timer is set.
func (t *truth) run(ctx context.Context) {
	const name = "notes to take over"
	defer t.e.chores.disarm(name)
	for ctx.Err() == nil {
		var due <-chan time.Time
		if next := t.next(); !next.IsZero() {
			due = time.After(time.Until(next))
			t.e.chores.arm(name, t.wait())
		} else {
			t.e.chores.disarm(name)
		}
		select {
		case <-ctx.Done():
		case <-t.wake:
			t.revive()
		case <-due:
			t.round(ctx)
		}
	}
}

// round settles every memory that is due. What fails is tried again, later and later.
func (t *truth) round(ctx context.Context) {
	var lost []*news
	var failed error
	for _, w := range t.take(time.Now()) {
		became, err := t.settle(ctx, w)
		switch {
		case err != nil:
			failed = err
			t.later(w)
		case became == unclear:
			t.later(w)
		case became == missing:
			lost = append(lost, w)
		default:
			t.settled(w)
		}
	}
	if err := t.bury(ctx, lost); err != nil {
		failed = err
	}
	if err := t.store(); err != nil && failed == nil {
		failed = err
	}
	if ctx.Err() == nil {
		t.e.chores.settle("taking over of what notes say", failed)
	}
}

// later tries again after twice the time of the last.
func (t *truth) later(w *news) {
	t.again(w, time.Now().Add(backOff(t.wait(), lastAgain, w.tries)), false)
}

// confirmLosses lets go of the losses that are held back and returns how many.
func (t *truth) confirmLosses(by memory.Actor) (held int) {
	held = t.confirm(by, time.Now())
	t.nudge()
	return held
}

// heldBack says that deletions are waiting for somebody to confirm them.
func heldBack(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d notes of memories went away together; the memories stay until the notes are back or the loss is confirmed", n)
}
