package stm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"emberd/memory"
)

// place is where a line stands on disk.
type place struct {
	file uint32 // index into Store.files
	off  int64
	n    uint32 // bytes, LF included
}

// Itself is the Via of the actor of what emberd does by itself, which an undo
// that names no entry passes over.
const Itself = "emberd"

// Entry is one line of the journal: everything one request changed.
type Entry struct {
	Tx   string
	Verb string
	At   time.Time
	By   memory.Actor
	IDs  []memory.ID
}

// journal remembers, in stamp order, where every transaction line is. Lines
// that compaction moved to a history are not among refs; what was read of
// histories is in cold until the next compaction.
type journal struct {
	mu     sync.RWMutex // guards all
	refs   []lineRef
	late   []lineRef // came out of order, and are put into it when somebody looks
	cold   []lineRef
	thawed bool
	swaps  int             // how often lines were swapped
	undone map[Stamp]Stamp // entry to the latest entry that took it back
}

// lineRef is one transaction line; lines with one tx are one entry.
type lineRef struct {
	stamp, tx Stamp
	at        place
	undo      bool // or a purge, or emberd's own doing: nothing that undo takes back unasked
	cut       bool // only the history has the whole line
}

func (l *line) lineRef() lineRef {
	return lineRef{stamp: l.stamp, tx: l.tx, at: l.at, undo: !l.ref.IsZero() || l.purges() || l.unasked(), cut: l.cut}
}

// unasked reports whether emberd wrote a line by itself.
func (l *line) unasked() bool { return bytes.Contains(l.by, []byte(`"via":"`+Itself+`"`)) }

func (l *line) purges() bool {
	return slices.ContainsFunc(l.changes, func(c change) bool { return c.op == opPurge })
}

func (j *journal) add(l *line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.insert(l.lineRef())
	j.markUndone(l)
}

func (j *journal) markUndone(l *line) {
	if !l.ref.IsZero() {
		j.undone[l.ref] = later(j.undone[l.ref], l.tx)
	}
}

// insert keeps refs in order. Own lines come in order; those of other devices
// may not, and one after another they would be moved again and again.
func (j *journal) insert(r lineRef) {
	if n := len(j.refs); n == 0 || r.stamp.after(j.refs[n-1].stamp) {
		j.refs = append(j.refs, r)
		return
	}
	j.late = append(j.late, r)
}

// read locks for reading, with every ref in order.
func (j *journal) read() (unlock func()) {
	j.mu.RLock()
	for len(j.late) > 0 {
		j.mu.RUnlock()
		j.mu.Lock()
		j.order()
		j.mu.Unlock()
		j.mu.RLock()
	}
	return j.mu.RUnlock
}

// order merges late into refs. It copies, since readers hold parts of refs.
func (j *journal) order() {
	if len(j.late) > 0 {
		j.refs, j.late = mergedRefs(j.refs, inOrder(j.late)), nil
	}
}

// inOrder sorts refs. Of a line met twice the later place counts, unless it was
// cut there.
func inOrder(refs []lineRef) []lineRef {
	slices.SortStableFunc(refs, func(a, b lineRef) int { return a.stamp.Compare(b.stamp) })
	out := refs[:0]
	for _, r := range refs {
		switch n := len(out); {
		case n == 0 || out[n-1].stamp != r.stamp:
			out = append(out, r)
		case out[n-1].cut || !r.cut:
			out[n-1] = r
		}
	}
	return out
}

// tell calls fn with the stamp of every line.
func (j *journal) tell(fn func(Stamp)) {
	defer j.read()()
	for _, r := range j.refs {
		fn(r.stamp)
	}
}

// swap takes out the lines of files that are replaced, and puts in those of the
// file that replaces them. It forgets what was read of histories, of which
// there is one more.
func (j *journal) swap(gone func(file uint32) bool, refs []lineRef) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.order()
	left := slices.DeleteFunc(slices.Clone(j.refs), func(r lineRef) bool { return gone(r.at.file) })
	j.refs, j.cold, j.thawed = mergedRefs(left, refs), nil, false
	j.swaps++
}

// thawing returns whether histories were read already, and what thaw has to be
// told about when reading began.
func (j *journal) thawing() (thawed bool, swaps int) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.thawed, j.swaps
}

// thaw takes lines read of histories. If a compaction came between, its history
// is not among them, and the next question reads again.
func (j *journal) thaw(lines []line, swaps int, all bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	cold := make([]lineRef, len(lines))
	for i := range lines {
		cold[i] = lines[i].lineRef()
		j.markUndone(&lines[i])
	}
	j.cold, j.thawed = inOrder(cold), all && swaps == j.swaps
}

// mergedRefs joins two lists in order. Of a line in both that of b counts,
// unless it was cut there and is whole in a.
func mergedRefs(a, b []lineRef) []lineRef {
	if len(b) == 0 {
		return a
	}
	out := make([]lineRef, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].stamp.Compare(b[0].stamp); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		case a[0].cut || !b[0].cut:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// newest returns the latest entry of a device that somebody asked for, that still
// stands and is not itself an undo.
func (j *journal) newest(of Device) (Stamp, bool) {
	defer j.read()()
	for _, r := range slices.Backward(mergedRefs(j.refs, j.cold)) {
		if r.tx.Dev == of && !r.undo && !j.takenBack(r.tx) && !j.isUndo(r.tx) {
			return r.tx, true
		}
	}
	return Stamp{}, false
}

// isUndo reports whether any line of an entry says that it takes another back.
func (j *journal) isUndo(tx Stamp) bool {
	return slices.ContainsFunc(j.linesOf(tx), func(r lineRef) bool { return r.undo })
}

// lines returns the lines of an entry, oldest first, and whether it was undone.
func (j *journal) lines(tx Stamp) (refs []lineRef, undone bool) {
	defer j.read()()
	return j.linesOf(tx), j.takenBack(tx)
}

// takenBack reports whether an entry was undone by one that was not undone
// itself.
func (j *journal) takenBack(tx Stamp) bool {
	by, ok := j.undone[tx]
	return ok && by.after(tx) && !j.takenBack(by)
}

func (j *journal) linesOf(tx Stamp) []lineRef {
	var refs []lineRef
	for _, all := range [][]lineRef{j.refs, j.cold} {
		i, _ := slices.BinarySearchFunc(all, tx, func(a lineRef, s Stamp) int { return a.stamp.Compare(s) })
		for _, r := range all[i:] {
			if r.tx == tx {
				refs = append(refs, r)
			}
		}
	}
	return inOrder(refs)
}

// readLine reads the line with a stamp back from the log and checks it again.
func (s *Store) readLine(at place, stamp Stamp) (line, error) {
	name := s.fileName(at.file)
	if name == "" {
		return line{}, memory.Errorf(memory.Busy, "the log was compacted meanwhile; try again")
	}
	f, err := s.fs.OpenRead(name)
	if err != nil {
		return line{}, fault(s.data, err)
	}
	defer f.Close()
	b := make([]byte, at.n)
	if _, err := f.ReadAt(b, at.off); err != nil && err != io.EOF {
		return line{}, fault(s.data, err)
	}
	b, err = mend(b)
	if err != nil {
		return line{}, fmt.Errorf("read %s at %d: %w", name, at.off, err)
	}
	l, err := decodeLine(b)
	if err == nil && l.stamp != stamp {
		err = fmt.Errorf("read %s at %d: another line is there", name, at.off)
	}
	l.at = at
	return l, err
}

func (l *line) entry() Entry {
	var by memory.Actor
	if l.by != nil {
		// Who it was is for display; an odd value is shown as nobody.
		_ = json.Unmarshal(l.by, &by)
	}
	return l.entryBy(by)
}

func (l *line) entryBy(by memory.Actor) Entry {
	e := Entry{Tx: l.tx.String(), Verb: l.verb, At: l.stamp.Time(), By: by}
	for _, c := range l.changes {
		e.IDs = append(e.IDs, c.id)
	}
	return e
}

// superseded is what a change covered: the revision before it, and the values
// of the keys it wrote (of all keys, for a delete).
type superseded struct {
	Rev  string                     `json:"t"`
	Keys map[string]json.RawMessage `json:"d"`
}

func (c *change) superseded() (superseded, error) {
	var p superseded
	if c.prev == nil {
		return p, nil
	}
	if err := json.Unmarshal(c.prev, &p); err != nil {
		return p, fmt.Errorf("superseded value of %s: %w", c.id, err)
	}
	return p, nil
}

// TrashItem is one forgotten memory, without its text.
type TrashItem struct {
	ID               memory.ID
	Forgotten, Until time.Time
	Entry            string
}

// Trash lists what can be restored, newest first.
func (s *Store) Trash() []TrashItem {
	oldest := s.now().Add(-s.trashKeep)
	var items []TrashItem
	s.table.mu.RLock()
	for key, g := range s.table.graves {
		if at := g.stamp.Time(); at.After(oldest) {
			items = append(items, TrashItem{ID: memory.IDFromBytes(key), Forgotten: at,
				Until: at.Add(s.trashKeep), Entry: g.tx.String()})
		}
	}
	s.table.mu.RUnlock()
	slices.SortFunc(items, func(a, b TrashItem) int {
		if c := b.Forgotten.Compare(a.Forgotten); c != 0 {
			return c
		}
		return compareText(a.ID, b.ID)
	})
	return items
}

// Trashed reports whether id can be restored.
func (s *Store) Trashed(id memory.ID) bool { return s.buried(id) && !s.hides(id) }

// buried is Trashed for all memories.
func (s *Store) buried(id memory.ID) bool {
	g, ok := s.grave(id)
	return ok && g.stamp.Time().After(s.now().Add(-s.trashKeep))
}

func (s *Store) grave(id memory.ID) (grave, bool) {
	s.table.mu.RLock()
	defer s.table.mu.RUnlock()
	g, ok := s.table.graves[id.Bytes()]
	return g, ok
}

// Forgetting returns the line of the journal that moved a memory to the trash.
func (s *Store) Forgetting(id memory.ID) (Entry, error) {
	g, ok := s.grave(id)
	if !ok || !s.buried(id) {
		return Entry{}, notTrashed(id)
	}
	l, err := s.readLine(g.at, g.stamp)
	return l.entry(), err
}

func notTrashed(id memory.ID) error {
	return memory.Errorf(memory.NotFound, "memory %s is not in the trash; emberd trash list shows what is", id)
}
