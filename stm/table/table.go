package table

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"emberd/memory"
	"emberd/stm/record"
)

// Cell is the fixed place of one memory: the map and the word index point to
// it, and its row is swapped as the memory changes.
type Cell struct {
	Row atomic.Pointer[Row]
	// doc is the memory's number in the word index plus one, 0 for none. It is
	// written under index.mu.
	Doc atomic.Uint32
}

// Table holds every memory, deleted ones as bare tombstones. Any goroutine may
// read it, and add uses; changes come from one at a time, recovery and then the
// writer.
type Table struct {
	Mu    sync.RWMutex // guards cells, not what they point to
	Cells map[[16]byte]*Cell
	Live  atomic.Int64
	Cold  atomic.Int64 // of the live ones
	// staged counts the live ones by stage.
	Staged [len(record.Stages)]atomic.Int64
	// placing is held while a row takes another's place. It guards tally, links, aliases and selections.
	placing    sync.Mutex
	tally      counter
	links      links
	aliases    aliases
	selections map[*Selection]selected
	// registers are those of the last row that has several.
	registers atomic.Pointer[[]Register]
	// graves reports where the line is that deleted a memory, to read back what
	// it superseded. Guarded by mu.
	Graves map[[16]byte]TombstoneRef
	// Bare are the deletes that came back from a copy without what they superseded, by memory:
	// it was in the trash, and no file has its text. Guarded by mu.
	Bare map[[16]byte]record.Stamp
	// purges are the memories that were purged. Guarded by mu.
	Purges map[[16]byte]Purge
	// prints are the memories by the fingerprints that their deletes ever had,
	// whether they count or not. Guarded by mu.
	Prints map[record.Fingerprint][][16]byte
}

// TombstoneRef is the line of a delete.
type TombstoneRef struct {
	Stamp, Tx record.Stamp
	At        record.Place
	Aliases   []string // of the memory
}

func NewTable() *Table {
	return &Table{Cells: map[[16]byte]*Cell{}, Graves: map[[16]byte]TombstoneRef{}, Bare: map[[16]byte]record.Stamp{},
		Purges: map[[16]byte]Purge{}, Prints: map[record.Fingerprint][][16]byte{}}
}

func (t *Table) Cell(key [16]byte) *Cell {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	return t.Cells[key]
}

// Get returns the live row of an id, or nil.
func (t *Table) Get(id memory.ID) *Row { return t.at(id.Bytes()) }

func (t *Table) at(key [16]byte) *Row {
	c := t.Cell(key)
	if c == nil {
		return nil
	}
	if r := c.Row.Load(); r.Live() {
		return r
	}
	return nil
}

func (t *Table) Claim(key [16]byte) *Cell {
	if c := t.Cell(key); c != nil {
		return c
	}
	t.Mu.Lock()
	defer t.Mu.Unlock()
	c := t.Cells[key]
	if c == nil {
		c = &Cell{}
		c.Row.Store(&Row{Key: key})
		t.Cells[key] = c
	}
	return c
}

// Apply merges one change of the line at where and reports the cell.
func (t *Table) Apply(c *record.Change, l *record.Line, where record.Place) (*Cell, error) {
	cell := t.Claim(c.ID.Bytes())
	if c.Op == record.OpPurge {
		t.notePurge(c.ID.Bytes(), l.Stamp)
	}
	if c.Print != nil {
		t.NotePrint(*c.Print, c.ID.Bytes())
	}
	c = t.related(c, l.Stamp)
	var old, next *Row
	for {
		var err error
		old = cell.Row.Load()
		if next, err = Merged(old, c, l.Stamp); err != nil {
			return cell, err
		}
		if next == old {
			if c.Op == record.OpDelete && old.Rest().Tomb == l.Stamp {
				t.applyDelete(old, c, l, where) // the tombstone is known, its line may not be
			}
			return cell, nil
		}
		shareRegisters(t, next)
		if t.swap(cell, old, next) {
			break
		}
	}
	if c.IsDelete() && next.Rest().Tomb == l.Stamp || next.Live() && !old.Live() {
		t.applyDelete(next, c, l, where)
	}
	return cell, nil
}

// shareRegisters gives a row the registers of the row before, if they are equal: memories that are archived together
// have the same. No other goroutine may have the row yet.
func shareRegisters(t *Table, r *Row) {
	if r.Odd == nil || len(r.Odd.Regs) < 2 {
		return
	}
	if last := t.registers.Swap(&r.Odd.Regs); last != nil && slices.Equal(*last, r.Odd.Regs) {
		r.Odd.Regs = *last
	}
}

// Preview merges a line into rows, which are the rows of memories after earlier lines, and changes
// nothing else.
func (t *Table) Preview(l *record.Line, rows map[[16]byte]*Row) error {
	for i := range l.Changes {
		key := l.Changes[i].ID.Bytes()
		row := rows[key]
		if row == nil {
			if row = (&Row{Key: key}); t.Cell(key) != nil {
				row = t.Cell(key).Row.Load()
			}
		}
		next, err := Merged(row, &l.Changes[i], l.Stamp)
		if err != nil {
			return err
		}
		rows[key] = next
	}
	return nil
}

// swap puts a row in another's place and counts it, unless the place is taken by a
// third one.
func (t *Table) swap(c *Cell, old, next *Row) bool {
	t.placing.Lock()
	defer t.placing.Unlock()
	if !c.Row.CompareAndSwap(old, next) {
		return false
	}
	t.Count(old, next)
	t.tally.replace(old, next)
	t.links.replace(old, next)
	t.aliases.replace(old, next)
	t.reselect(c, old, next)
	return true
}

func (t *Table) Count(old, next *Row) {
	if old.Live() {
		t.Staged[old.Hot.Stage].Add(-1)
	}
	if next.Live() {
		t.Staged[next.Hot.Stage].Add(1)
	}
	switch {
	case next.Live() && !old.Live():
		t.Live.Add(1)
	case old.Live() && !next.Live():
		t.Live.Add(-1)
	}
	switch {
	case next.Cold() && !old.Cold():
		t.Cold.Add(1)
	case old.Cold() && !next.Cold():
		t.Cold.Add(-1)
	}
}

func (t *Table) applyDelete(row *Row, c *record.Change, l *record.Line, where record.Place) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if l.Cut && c.Prev == nil && c.Op == record.OpDelete && t.Graves[row.Key].Stamp == l.Stamp {
		return // another line of the same delete has what it superseded
	}
	delete(t.Graves, row.Key)
	delete(t.Bare, row.Key)
	switch {
	case row.Live(), c.Op == record.OpPurge, t.gone(row):
	case l.Cut && c.Prev == nil: // a tombstone that holds nothing any more
		if l.Verb == record.Recovered {
			t.Bare[row.Key] = l.Stamp
		}
	case c.Op == record.OpDelete:
		t.Graves[row.Key] = TombstoneRef{Stamp: l.Stamp, Tx: l.Tx, At: where, Aliases: aliasesBefore(c)}
	}
}

// gone reports whether nothing of a memory is newer than its purge. The lock
// is held.
func (t *Table) gone(row *Row) bool {
	at := t.Purges[row.Key].Stamp
	return !at.IsZero() && !row.Rest().Born.After(at)
}

// Moved puts graves right after the lines in replaced files went elsewhere, or
// came to be too old to be restored.
func (t *Table) Moved(gone func(file uint32) bool, to map[[16]byte]TombstoneRef) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	for key, g := range t.Graves {
		if !gone(g.At.File) {
			continue
		}
		if now, ok := to[key]; ok && now.Stamp == g.Stamp {
			now.Aliases = g.Aliases
			t.Graves[key] = now
		} else {
			delete(t.Graves, key)
		}
	}
}

// Drop removes memories of which only a tombstone remains that no device
// needs. It is for the goroutine that changes the table.
func (t *Table) Drop(tombs map[[16]byte]record.Stamp) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	for key, tomb := range tombs {
		if c := t.Cells[key]; c != nil && !c.Row.Load().Live() && c.Row.Load().Latest() == tomb {
			delete(t.Cells, key)
			delete(t.Graves, key)
			delete(t.Bare, key)
		}
	}
}

// Raise merges one device's totals into a memory. A total for a memory that is
// not there yet waits in a row that is not live.
func (t *Table) Raise(key [16]byte, u record.UseTotal) {
	cell := t.Claim(key)
	for {
		old := cell.Row.Load()
		if t.swap(cell, old, WithUse(old, u)) {
			return
		}
	}
}

// Every returns all cells there are, those of rows that are not live too.
func (t *Table) Every() []*Cell {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	return slices.AppendSeq(make([]*Cell, 0, len(t.Cells)), maps.Values(t.Cells))
}

// Each calls fn for every live row until it returns false.
func (t *Table) Each(fn func(*Cell, *Row) bool) {
	for _, c := range t.Every() {
		if r := c.Row.Load(); r.Live() && !fn(c, r) {
			return
		}
	}
}

// Lacks reports whether the line writes to a memory that has neither
// been created nor deleted.
func (t *Table) Lacks(l *record.Line) bool {
	return slices.ContainsFunc(l.Changes, func(c record.Change) bool { return t.LacksMemory(&c) })
}

// LacksMemory is [Table.Lacks] for one change.
func (t *Table) LacksMemory(c *record.Change) bool {
	if c.IsDelete() {
		return false
	}
	cell := t.Cell(c.ID.Bytes())
	if cell == nil {
		return true
	}
	o := cell.Row.Load().Rest()
	return o.Born.IsZero() && o.Tomb.IsZero()
}

// Strip takes note that the lines of deletes until a time of the clock are in no file: those that
// others, a table of what the files hold, has no place of.
func (t *Table) Strip(others *Table, until uint64) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	for key, g := range t.Graves {
		if g.Stamp.T <= until && others.Graves[key].Stamp != g.Stamp {
			delete(t.Graves, key)
			t.Bare[key] = g.Stamp
		}
	}
}

// BareSince copies [Table.Bare] as far as a memory was deleted after a time.
func (t *Table) BareSince(after time.Time) map[[16]byte]record.Stamp {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	bare := maps.Clone(t.Bare)
	maps.DeleteFunc(bare, func(_ [16]byte, at record.Stamp) bool { return !at.Time().After(after) })
	return bare
}

// CountTombstones counts the memories that were deleted after a time and can be restored.
func (t *Table) CountTombstones(after time.Time) (n int) {
	t.Mu.RLock()
	defer t.Mu.RUnlock()
	for _, g := range t.Graves {
		if g.Stamp.Time().After(after) {
			n++
		}
	}
	return n
}
