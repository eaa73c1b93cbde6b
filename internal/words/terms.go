package words

import "hash/maphash"

// termTable finds the list of a term: an open hash table with linear probing of places in lists, each plus one, 0
// for none. It is at most three quarters full. A map would keep each term a second time, and take five times as much.
type termTable struct {
	slots []uint32
	used  int
	seed  maphash.Seed
}

// newTermTable returns a table with room for so many terms.
func newTermTable(terms int) termTable {
	return termTable{slots: make([]uint32, terms+terms/3+minSlots), seed: maphash.MakeSeed()}
}

const minSlots = 8

// first returns the slot where the search for a term begins.
func (t *termTable) first(term string) int {
	// The high half of a product spreads a hash over any number of slots.
	return int(uint64(uint32(maphash.String(t.seed, term))) * uint64(len(t.slots)) >> 32)
}

// next returns the slot to look at after one.
func (t *termTable) next(at int) int {
	if at++; at == len(t.slots) {
		return 0
	}
	return at
}

// find returns the place of the list of a term, false if there is none.
func (t *termTable) find(lists []list, term string) (uint32, bool) {
	at := t.first(term)
	for t.slots[at] != 0 && lists[t.slots[at]-1].term != term {
		at = t.next(at)
	}
	return t.slots[at] - 1, t.slots[at] != 0
}

// add adds a list whose term is not in the table.
func (t *termTable) add(lists []list, place uint32) {
	if t.used++; t.used > len(t.slots)/4*3 {
		more := newTermTable(2 * t.used)
		for _, n := range t.slots {
			if n != 0 {
				more.put(lists[n-1].term, n)
			}
		}
		t.slots, t.seed = more.slots, more.seed
	}
	t.put(lists[place].term, place+1)
}

// put puts a number into the slot of a term that is not in the table.
func (t *termTable) put(term string, n uint32) {
	at := t.first(term)
	for t.slots[at] != 0 {
		at = t.next(at)
	}
	t.slots[at] = n
}
