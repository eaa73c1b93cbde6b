package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/watcher"
)

// meantFor is how long after a loss was confirmed what is told to be gone was meant.
const meantFor = time.Minute

// news is what was seen of the notes that carry the id of one memory.
type news struct {
	ID    memory.ID `json:"id"`
	Came  []string  `json:"came,omitempty"`  // notes that did not carry it before, or are back
	Went  []string  `json:"went,omitempty"`  // notes that did, and are gone
	Meant bool      `json:"meant,omitempty"` // somebody confirmed that they were to go
	Alive bool      `json:"alive,omitempty"` // the memory came to life meanwhile
	// MeantBy is who confirmed it, in whose name the memory then goes.
	MeantBy *memory.Actor `json:"meant_by,omitempty"`
	// Moved says under which name a note was found that is gone under another.
	Moved map[string]string `json:"moved,omitempty"`

	due   time.Time // zero until the batch is read to its end
	tries int       // for which a note could not be read
	held  bool      // it takes somebody to say that the loss was meant
}

// add joins what was seen later.
func (w *news) add(later *news) {
	for _, path := range later.Came {
		w.came(path)
	}
	for _, path := range later.Went {
		w.went(path)
	}
	w.Alive = w.Alive || later.Alive
	if later.Meant {
		w.mean(later.MeantBy)
	}
	for from, to := range later.Moved {
		w.move(from, to)
	}
}

// mean says that a loss was meant, and by whom. The first who said so stays.
func (w *news) mean(by *memory.Actor) {
	if w.Meant = true; w.MeantBy == nil {
		w.MeantBy = by
	}
}

// by is who is answerable for a loss: who confirmed it, or else emberd, which saw it.
func (w *news) by() memory.Actor {
	if w.MeantBy == nil {
		return vaultActor()
	}
	return *w.MeantBy
}

func (w *news) move(from, to string) {
	if w.Moved == nil {
		w.Moved = make(map[string]string)
	}
	w.Moved[from] = to
	delete(w.Moved, to) // where it went from there before, it is back from
	w.Came = without(w.Came, to)
	if i := slices.Index(w.Came, from); i >= 0 {
		w.Came[i] = to
	}
}

// now is where the note has been moved that was at a path.
func (w *news) now(path string) string {
	for range w.Moved { // no further than once around
		to, moved := w.Moved[path]
		if !moved {
			break
		}
		path = to
	}
	return path
}

func (w *news) came(path string) {
	w.Went = without(w.Went, path)
	if !slices.Contains(w.Came, path) {
		w.Came = append(w.Came, path)
	}
}

func (w *news) went(path string) {
	w.Came = without(w.Came, path)
	w.Went = append(without(w.Went, path), path)
}

func without(paths []string, path string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == path })
}

// mailbag holds the news until they are settled. They are on the disk before the index
// holds what they tell of, so that none is lost with a daemon that is killed.
type mailbag struct {
	fs   durable.FS
	file string

	mu          sync.Mutex // guards what follows
	all         map[memory.ID]*news
	taken       map[memory.ID]*news // being settled
	batch       map[memory.ID]bool  // told of by the batch that is being read
	moved       map[string]string   // by that batch: to which name; nil between batches
	confirmed   time.Time           // when somebody said last that a loss was meant
	confirmedBy *memory.Actor       // who that was
	failed      error               // of the last writing
}

// openMailbag reads what the last run left, which is due as if it had just been told.
func openMailbag(fsys durable.FS, file string) (*mailbag, error) {
	b := &mailbag{fs: fsys, file: file, all: make(map[memory.ID]*news), taken: make(map[memory.ID]*news), batch: make(map[memory.ID]bool)}
	left, err := b.load()
	for _, w := range left {
		b.all[w.ID], b.batch[w.ID] = w, true
	}
	return b, err
}

// load reads the file. Without it nothing is lost but the taking over of what was
// written shortly before the last end.
func (b *mailbag) load() (left []*news, err error) {
	data, err := lastState(b.fs, b.file)
	if err != nil || data == nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &left); err != nil {
		return nil, fmt.Errorf("%s cannot be understood: %w", b.file, err)
	}
	return slices.DeleteFunc(left, func(w *news) bool { return w == nil || !isID(w.ID) }), nil
}

func isID(id memory.ID) bool {
	parsed, err := memory.ParseID(string(id))
	return err == nil && parsed == id
}

// save writes everything that is not settled. It is called with mu held.
func (b *mailbag) save() {
	var all []*news
	for _, w := range b.all {
		all = append(all, w)
	}
	for id, w := range b.taken {
		if b.all[id] == nil {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *news) int { return strings.Compare(string(a.ID), string(b.ID)) })
	data, err := json.Marshal(all)
	if err == nil {
		err = durable.ReplaceFile(b.fs, b.file, data)
	}
	b.failed = err
}

// begin says that a batch is about to be read, with what only changed its name.
func (b *mailbag) begin(moved []watcher.Move) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved = make(map[string]string)
	for _, m := range moved {
		b.moved[m.From] = m.To
	}
}

// tell takes in what the index is about to hold, given which notes carry which ids so
// far.
func (b *mailbag) tell(c *carriers, read []reading, gone []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	told := false
	for _, path := range gone {
		if id, ok := c.at(path); ok {
			b.lost(id, path)
			told = true
		} else if b.moves(path) {
			told = true
		}
	}
	away := b.away()
	for _, r := range read {
		before, was := c.at(r.doc.Path)
		now, err := memory.ParseID(r.doc.MemoryID)
		is := err == nil
		if was && (!is || before != now) {
			b.of(before)
		}
		if is {
			if w := b.of(now); before != now {
				w.came(r.doc.Path)
			}
		}
		told = told || was || is
		if r.note != nil && !was { // it is back, whether it carries an id or not
			for _, w := range away[r.doc.Path] {
				w.came(r.doc.Path)
				told = true
			}
		}
	}
	if told {
		b.save()
	}
}

// moves takes in that a note which came was moved, whether it carries an id or not.
func (b *mailbag) moves(path string) (told bool) {
	to, moved := b.moved[path]
	if !moved {
		return false
	}
	for _, w := range b.all {
		if slices.Contains(w.Came, path) {
			w.move(path, to)
			told = true
		}
	}
	return told
}

// away are the news of notes that went, by path.
func (b *mailbag) away() map[string][]*news {
	out := make(map[string][]*news)
	for _, w := range b.all {
		for _, path := range w.Went {
			out[path] = append(out[path], w)
		}
	}
	return out
}

func (b *mailbag) lost(id memory.ID, path string) {
	w := b.of(id)
	if to, moved := b.moved[path]; moved {
		w.move(path, to)
	} else {
		w.went(path)
	}
	if time.Since(b.confirmed) < meantFor {
		w.mean(b.confirmedBy)
	}
}

// of returns the news of a memory, which are then not due before the batch is over.
func (b *mailbag) of(id memory.ID) *news {
	w := b.all[id]
	if w == nil {
		w = &news{ID: id}
		b.all[id] = w
	}
	w.due, w.held, w.tries = time.Time{}, false, 0
	b.batch[id] = true
	return w
}

// touch has memories settled at a time. alive says that they came to life.
func (b *mailbag) touch(ids []memory.ID, due time.Time, alive bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		reading := b.batch[id]
		w := b.of(id)
		if w.Alive = w.Alive || alive; !reading {
			w.due = due
			delete(b.batch, id)
		}
	}
	if len(ids) > 0 {
		b.save()
	}
}

// end says that the batch was read to its end: what it told of is due then.
func (b *mailbag) end(due time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range b.batch {
		if w := b.all[id]; w != nil {
			w.due = due
		}
	}
	clear(b.batch)
	b.moved = nil
}

// reads reports whether a batch is being read.
func (b *mailbag) reads() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moved != nil
}

// next is when something is due, the zero time for never.
func (b *mailbag) next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	var first time.Time
	for _, w := range b.all {
		if !w.held && !w.due.IsZero() && (first.IsZero() || w.due.Before(first)) {
			first = w.due
		}
	}
	return first
}

// take returns what is due, in the order of ids, and with it the losses that are held
// back, which may be none by now.
func (b *mailbag) take(now time.Time) []*news {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out, held []*news
	for _, w := range b.all {
		switch {
		case w.held:
			held = append(held, w)
		case !w.due.IsZero() && !w.due.After(now):
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil
	}
	out = append(out, held...)
	for _, w := range out {
		delete(b.all, w.ID)
		b.taken[w.ID] = w
	}
	slices.SortFunc(out, func(a, b *news) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// settled lets go of news.
func (b *mailbag) settled(w *news) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.taken, w.ID)
}

// forget drops the news of a memory, on the disk, too.
func (b *mailbag) forget(id memory.ID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[id] == nil {
		return nil
	}
	delete(b.all, id)
	delete(b.batch, id)
	b.save()
	return b.failed
}

// again puts news back, together with what came meanwhile.
func (b *mailbag) again(w *news, due time.Time, held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.taken, w.ID)
	w.due, w.held = due, held
	w.tries++
	if later := b.all[w.ID]; later != nil {
		w.add(later)
		w.due, w.held, w.tries = later.due, false, 0
	}
	b.all[w.ID] = w
}

// store writes what is left after some were settled.
func (b *mailbag) store() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.save()
	return b.failed
}

// confirm takes all losses for meant, those told in the next minute too, and returns
// how many had been held back.
func (b *mailbag) confirm(by memory.Actor, due time.Time) (held int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.confirmed, b.confirmedBy = time.Now(), &by
	for _, w := range b.all {
		if len(w.Went) > 0 {
			w.mean(&by)
		}
		if w.held {
			w.held, w.due = false, due
			held++
		}
	}
	b.save()
	return held
}

// confirming reports whether a loss that was confirmed waits to be carried out, and since
// when.
func (b *mailbag) confirming() (since time.Time, waits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, some := range []map[memory.ID]*news{b.all, b.taken} {
		for _, w := range some {
			waits = waits || w.Meant && len(w.Went) > 0
		}
	}
	return b.confirmed, waits
}

// count returns how many memories wait, and how many of them for a confirmation.
func (b *mailbag) count() (waiting, held int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.all {
		if w.held {
			held++
		}
	}
	return len(b.all) + len(b.taken), held
}

// waits reports whether a memory is still to be settled.
func (b *mailbag) waits(id memory.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[id] != nil || b.taken[id] != nil
}
