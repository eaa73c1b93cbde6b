package stm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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

// Entry is one line of the journal: everything one request changed.
type Entry struct {
	Tx   string
	Verb string
	At   time.Time
	By   memory.Actor
	IDs  []memory.ID
}

// journal remembers, in stamp order, where every transaction line is.
type journal struct {
	mu     sync.RWMutex // guards all
	refs   []lineRef
	undone map[Stamp]Stamp // entry to the latest entry that took it back
}

// lineRef is one transaction line; lines with one tx are one entry.
type lineRef struct {
	stamp, tx Stamp
	at        place
	undo      bool
}

func (j *journal) add(l *line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.insert(lineRef{stamp: l.stamp, tx: l.tx, at: l.at, undo: l.ref != Stamp{}})
	if !l.ref.IsZero() {
		j.undone[l.ref] = later(j.undone[l.ref], l.tx)
	}
}

// insert keeps refs in order. Own lines come in order; those of other devices
// may not. Of a line met twice the later place counts.
func (j *journal) insert(r lineRef) {
	i := len(j.refs)
	if i > 0 && !r.stamp.after(j.refs[i-1].stamp) {
		var found bool
		if i, found = slices.BinarySearchFunc(j.refs, r.stamp, func(a lineRef, s Stamp) int { return a.stamp.Compare(s) }); found {
			j.refs[i] = r
			return
		}
	}
	j.refs = slices.Insert(j.refs, i, r)
}

// newest returns the latest entry that still stands and is not itself an undo.
func (j *journal) newest() (Stamp, bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for _, r := range slices.Backward(j.refs) {
		if !r.undo && !j.takenBack(r.tx) && !j.isUndo(r.tx) {
			return r.tx, true
		}
	}
	return Stamp{}, false
}

// isUndo reports whether any line of an entry says that it takes another back.
func (j *journal) isUndo(tx Stamp) bool {
	for _, r := range j.linesFrom(tx) {
		if r.tx == tx && r.undo {
			return true
		}
	}
	return false
}

// lines returns the lines of an entry, oldest first, and whether it was undone.
func (j *journal) lines(tx Stamp) (refs []lineRef, undone bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for _, r := range j.linesFrom(tx) {
		if r.tx == tx {
			refs = append(refs, r)
		}
	}
	return refs, j.takenBack(tx)
}

// takenBack reports whether an entry was undone by one that was not undone
// itself.
func (j *journal) takenBack(tx Stamp) bool {
	by, ok := j.undone[tx]
	return ok && by.after(tx) && !j.takenBack(by)
}

// linesFrom returns the lines not older than the entry's first.
func (j *journal) linesFrom(tx Stamp) []lineRef {
	i, _ := slices.BinarySearchFunc(j.refs, tx, func(a lineRef, s Stamp) int { return a.stamp.Compare(s) })
	return j.refs[i:]
}

// readLine reads the line with a stamp back from the log and checks it again.
func (s *Store) readLine(at place, stamp Stamp) (line, error) {
	name := s.fileName(at.file)
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
func (s *Store) Trashed(id memory.ID) bool {
	g, ok := s.grave(id)
	return ok && g.stamp.Time().After(s.now().Add(-s.trashKeep))
}

func (s *Store) grave(id memory.ID) (grave, bool) {
	s.table.mu.RLock()
	defer s.table.mu.RUnlock()
	g, ok := s.table.graves[id.Bytes()]
	return g, ok
}

// Forgotten reads a trashed memory as it was.
func (s *Store) Forgotten(id memory.ID) (memory.Memory, error) {
	keys, err := s.unearth(id)
	if err != nil {
		return memory.Memory{}, err
	}
	m, err := decodeMemory(encode(keys))
	if err != nil {
		return m, fmt.Errorf("memory %s in the trash: %w", id, err)
	}
	m.ID = id
	if m.LastUsed.IsZero() {
		m.LastUsed = m.CreatedAt
	}
	if c := s.table.cell(id.Bytes()); c != nil {
		counted := c.row.Load().total()
		m.UseCount += counted.uses
		m.AccessCount += counted.accesses
		if used := milli(counted.used); used.After(m.LastUsed) {
			m.LastUsed = used
		}
	}
	return m, nil
}

// unearth returns every key of a memory as it was when it was forgotten.
func (s *Store) unearth(id memory.ID) (map[string]json.RawMessage, error) {
	g, ok := s.grave(id)
	if !ok || !s.Trashed(id) {
		return nil, memory.Errorf(memory.NotFound, "memory %s is not in the trash; emberd trash list shows what is", id)
	}
	l, err := s.readLine(g.at, g.stamp)
	if err != nil {
		return nil, err
	}
	for i := range l.changes {
		if c := &l.changes[i]; c.id == id && c.op == opDelete {
			p, err := c.superseded()
			return s.revived(id, p.Keys), err
		}
	}
	return nil, memory.Errorf(memory.Internal, "the log line that forgot %s does not name it", id)
}

// revived returns the keys of a forgotten memory with what other devices wrote
// or removed after it was forgotten.
func (s *Store) revived(id memory.ID, keys map[string]json.RawMessage) map[string]json.RawMessage {
	cell := s.table.cell(id.Bytes())
	if cell == nil || cell.row.Load().live() {
		return keys
	}
	row, out := cell.row.Load(), map[string]json.RawMessage{}
	maps.Copy(out, keys)
	for _, later := range row.rest().regs {
		if delete(out, later.key); row.value(later.key) != nil {
			out[later.key] = row.value(later.key)
		}
	}
	return out
}

// Restore brings memories back from the trash: all, or none.
func (s *Store) Restore(ctx context.Context, ids []memory.ID, by memory.Actor) (Receipt, error) {
	return s.Update(ctx, ids, "", func(rows []*Row) (*Tx, error) {
		tx := &Tx{Verb: "restore", By: by}
		for i, id := range ids {
			if rows[i] != nil {
				return nil, memory.Errorf(memory.Invalid, "memory %s is not in the trash: it is live", id)
			}
			keys, err := s.unearth(id)
			if err != nil {
				return nil, err
			}
			tx.Changes = append(tx.Changes, Change{ID: id, Set: keys})
		}
		return tx, nil
	})
}
