package ltm

import "fmt"

// table is the notes of one state of the store, by number. It never changes: an update
// makes a new one and shares the notes.
type table struct {
	generation uint64
	notes      []*note // nil where a number is free
	count      int
	passages   int
	body       float64 // words of all notes
	names      float64
	tags       float64
	other      float64
}

// tables are the states a search may meet: a batch becomes visible in the store at
// some moment between the storing of next and its becoming current. Which one a
// search meets, the generation in the snapshot it got tells.
type tables struct{ current, next *table }

// of returns the table that belongs to a snapshot.
func (t *tables) of(generation uint64) (*table, bool) {
	switch {
	case t.current.generation == generation:
		return t.current, true
	case t.next != nil && t.next.generation == generation:
		return t.next, true
	}
	return nil, false
}

// with returns the table after a batch: the given notes under their numbers, nil for
// deleted ones.
func (t *table) with(changed map[uint32]*note) *table {
	next := *t
	next.generation++
	size := len(t.notes)
	for number := range changed {
		size = max(size, int(number)+1)
	}
	next.notes = make([]*note, size, size+size/8)
	copy(next.notes, t.notes)
	for number, n := range changed {
		next.tally(next.notes[number], -1)
		next.notes[number] = n
		next.tally(n, 1)
	}
	return &next
}

// tally adds what a note means for the statistics, or takes it back.
func (t *table) tally(n *note, sign int) {
	if n == nil {
		return
	}
	t.count += sign
	t.passages += sign * len(n.passages)
	t.body += float64(sign * n.bodyLen)
	t.names += float64(sign * n.namesLen)
	t.tags += float64(sign * n.tagsLen)
	t.other += float64(sign * n.otherLen)
}

// note returns the note of a number, nil if there is none.
func (t *table) note(number uint32) *note {
	if int64(number) >= int64(len(t.notes)) {
		return nil
	}
	return t.notes[number]
}

// loadTable reads the records of all notes, and checks that each has its parts.
func loadTable(s store) (*table, error) {
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	defer view.close()
	changed := make(map[uint32]*note)
	found := make(map[uint32]int)
	for _, seg := range view.segments {
		for local, ref := range seg.refs {
			if !seg.live(uint32(local)) {
				continue
			}
			found[ref.note]++
			if ref.part != 0 {
				continue
			}
			b, err := seg.stored(uint32(local))
			if err != nil {
				return nil, err
			}
			n, err := decodeNote(b)
			if err != nil {
				return nil, err
			}
			if changed[ref.note] != nil {
				return nil, fmt.Errorf("two notes have the number %d", ref.note)
			}
			changed[ref.note] = n
		}
	}
	for number, parts := range found {
		if n := changed[number]; n == nil || n.parts() != parts {
			return nil, fmt.Errorf("note number %d has %d parts and not what its record says", number, parts)
		}
	}
	t := (&table{}).with(changed)
	t.generation = view.generation
	return t, nil
}
