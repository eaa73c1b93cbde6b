package stm

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"emberd/memory"
)

// cell is the fixed place of one memory: the map and the word index point to
// it, and its row is swapped as the memory changes.
type cell struct {
	row atomic.Pointer[Row]
	// doc is the memory's number in the word index plus one, 0 for none. It is
	// written under index.mu.
	doc atomic.Uint32
}

// table holds every memory, deleted ones as bare tombstones. Any goroutine may
// read it, and add uses; changes come from one at a time, recovery and then the
// writer.
type table struct {
	mu    sync.RWMutex // guards cells, not what they point to
	cells map[[16]byte]*cell
	live  atomic.Int64
	cold  atomic.Int64 // of the live ones
	// staged counts the live ones by stage.
	staged [len(stages)]atomic.Int64
	// placing is held while a row takes another's place. It guards tally, links and aliases.
	placing sync.Mutex
	tally   tally
	links   links
	aliases aliases
	// graves says where the line is that deleted a memory, to read back what
	// it superseded. Guarded by mu.
	graves map[[16]byte]grave
	// purges are the memories that were purged. Guarded by mu.
	purges map[[16]byte]purge
	// prints are the memories by the fingerprints that their deletes ever had,
	// whether they count or not. Guarded by mu.
	prints map[fingerprint][][16]byte
}

// grave is the line of a delete.
type grave struct {
	stamp, tx Stamp
	at        place
	aliases   []string // of the memory
}

func newTable() *table {
	return &table{cells: map[[16]byte]*cell{}, graves: map[[16]byte]grave{}, purges: map[[16]byte]purge{},
		prints: map[fingerprint][][16]byte{}}
}

func (t *table) cell(key [16]byte) *cell {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.cells[key]
}

// get returns the live row of an id, or nil.
func (t *table) get(id memory.ID) *Row { return t.at(id.Bytes()) }

func (t *table) at(key [16]byte) *Row {
	c := t.cell(key)
	if c == nil {
		return nil
	}
	if r := c.row.Load(); r.live() {
		return r
	}
	return nil
}

func (t *table) claim(key [16]byte) *cell {
	if c := t.cell(key); c != nil {
		return c
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.cells[key]
	if c == nil {
		c = &cell{}
		c.row.Store(&Row{key: key})
		t.cells[key] = c
	}
	return c
}

// apply merges one change of the line at where and reports the cell.
func (t *table) apply(c *change, l *line, where place) (*cell, error) {
	cell := t.claim(c.id.Bytes())
	if c.op == opPurge {
		t.notePurge(c.id.Bytes(), l.stamp)
	}
	if c.print != nil {
		t.notePrint(*c.print, c.id.Bytes())
	}
	c = t.related(c, l.stamp)
	var old, next *Row
	for {
		var err error
		old = cell.row.Load()
		if next, err = merged(old, c, l.stamp); err != nil {
			return cell, err
		}
		if next == old {
			if c.op == opDelete && old.rest().tomb == l.stamp {
				t.bury(old, c, l, where) // the tombstone is known, its line may not be
			}
			return cell, nil
		}
		if t.swap(cell, old, next) {
			break
		}
	}
	if c.buries() && next.rest().tomb == l.stamp || next.live() && !old.live() {
		t.bury(next, c, l, where)
	}
	return cell, nil
}

// swap puts a row in another's place and counts it, unless the place is taken by a
// third one.
func (t *table) swap(c *cell, old, next *Row) bool {
	t.placing.Lock()
	defer t.placing.Unlock()
	if !c.row.CompareAndSwap(old, next) {
		return false
	}
	t.count(old, next)
	t.tally.replace(old, next)
	t.links.replace(old, next)
	t.aliases.replace(old, next)
	return true
}

func (t *table) count(old, next *Row) {
	if old.live() {
		t.staged[old.hot.stage].Add(-1)
	}
	if next.live() {
		t.staged[next.hot.stage].Add(1)
	}
	switch {
	case next.live() && !old.live():
		t.live.Add(1)
	case old.live() && !next.live():
		t.live.Add(-1)
	}
	switch {
	case next.cold() && !old.cold():
		t.cold.Add(1)
	case old.cold() && !next.cold():
		t.cold.Add(-1)
	}
}

func (t *table) bury(row *Row, c *change, l *line, where place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case row.live(), c.op == opPurge, t.gone(row):
		delete(t.graves, row.key)
	case l.cut && c.prev == nil: // a tombstone that holds nothing any more
		delete(t.graves, row.key)
	case c.op == opDelete:
		t.graves[row.key] = grave{stamp: l.stamp, tx: l.tx, at: where, aliases: c.aliasesBefore()}
	}
}

// gone reports whether nothing of a memory is newer than its purge. The lock
// is held.
func (t *table) gone(row *Row) bool {
	at := t.purges[row.key].stamp
	return !at.IsZero() && !row.rest().born.after(at)
}

// moved puts graves right after the lines in replaced files went elsewhere, or
// came to be too old to be restored.
func (t *table) moved(gone func(file uint32) bool, to map[[16]byte]grave) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, g := range t.graves {
		if !gone(g.at.file) {
			continue
		}
		if now, ok := to[key]; ok && now.stamp == g.stamp {
			now.aliases = g.aliases
			t.graves[key] = now
		} else {
			delete(t.graves, key)
		}
	}
}

// drop removes memories of which nothing is left but a tombstone that nobody
// needs. It is for the goroutine that changes the table.
func (t *table) drop(tombs map[[16]byte]Stamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, tomb := range tombs {
		if c := t.cells[key]; c != nil && !c.row.Load().live() && c.row.Load().rev() == tomb {
			delete(t.cells, key)
			delete(t.graves, key)
		}
	}
}

// raise merges one device's totals into a memory. A total for a memory that is
// not there yet waits in a row that is not live.
func (t *table) raise(key [16]byte, u useTotal) {
	cell := t.claim(key)
	for {
		old := cell.row.Load()
		if t.swap(cell, old, withUse(old, u)) {
			return
		}
	}
}

// every returns all cells there are, those of rows that are not live too.
func (t *table) every() []*cell {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.AppendSeq(make([]*cell, 0, len(t.cells)), maps.Values(t.cells))
}

// each calls fn for every live row until it returns false.
func (t *table) each(fn func(*cell, *Row) bool) {
	for _, c := range t.every() {
		if r := c.row.Load(); r.live() && !fn(c, r) {
			return
		}
	}
}
