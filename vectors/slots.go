package vectors

import "hash/maphash"

// slots finds slots by key: a hash table with linear probing (Knuth, The Art of Computer Programming, vol. 3, 6.4,
// algorithms L and R). A map of pointers takes four times the memory.
type slots struct {
	cells []*slot // a power of two, three quarters of them in use at most
	n     int
	seed  maphash.Seed // files of others may have any keys
}

// minSlots is the least number of cells.
const minSlots = 64

// home returns the cell where the search for a key begins.
func (t *slots) home(key Key) int {
	return int(maphash.Bytes(t.seed, key[:]) & uint64(len(t.cells)-1))
}

// cell returns where the slot of a key is, or the free cell where it would be.
func (t *slots) cell(key Key) int {
	at := t.home(key)
	for t.cells[at] != nil && t.cells[at].key != key {
		at = (at + 1) & (len(t.cells) - 1)
	}
	return at
}

// get returns the slot of a key, nil if there is none.
func (t *slots) get(key Key) *slot {
	if t.n == 0 {
		return nil
	}
	return t.cells[t.cell(key)]
}

// add adds a slot, whose key has none.
func (t *slots) add(s *slot) {
	if 4*(t.n+1) > 3*len(t.cells) {
		t.grow()
	}
	t.cells[t.cell(s.key)] = s
	t.n++
}

func (t *slots) grow() {
	old := t.cells
	if old == nil {
		t.seed = maphash.MakeSeed()
	}
	t.cells = make([]*slot, max(2*len(old), minSlots))
	for _, s := range old {
		if s != nil {
			t.cells[t.cell(s.key)] = s
		}
	}
}

// remove removes the slot of a key, and moves those behind it that would no longer be found.
func (t *slots) remove(key Key) {
	free := t.cell(key)
	if t.cells[free] == nil {
		return
	}
	t.n--
	mask := len(t.cells) - 1
	for at := (free + 1) & mask; t.cells[at] != nil; at = (at + 1) & mask {
		if home := t.home(t.cells[at].key); (at-home)&mask >= (at-free)&mask {
			t.cells[free], free = t.cells[at], at
		}
	}
	t.cells[free] = nil
}

// all returns the slots, in no order. It is a copy: slots may be removed while it is read.
func (t *slots) all() []*slot {
	all := make([]*slot, 0, t.n)
	for _, s := range t.cells {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}
