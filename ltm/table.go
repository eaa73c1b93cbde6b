package ltm

import (
	"fmt"
	"slices"
	"sync"
)

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
	paths      func() map[string]uint32 // number by path, made when it is asked for
}

// size is what scoring needs of every note.
type size struct {
	body, names, tags, other uint32 // words
	shortest                 uint16 // words of the shortest passage
}

func (n *note) size() size {
	return size{uint32(n.bodyLen), uint32(n.namesLen), uint32(n.tagsLen), uint32(n.otherLen), slices.Min(n.passages)}
}

// tables are the states that a search may meet: a batch becomes visible in the store at some
// moment between storing next and making it current. The generation in the search's snapshot
// selects one.
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
	numbers := len(t.notes)
	for number := range changed {
		numbers = max(numbers, int(number)+1)
	}
	next.notes = make([]*note, numbers)
	copy(next.notes, t.notes)
	for number, n := range changed {
		next.tally(next.notes[number], -1)
		next.notes[number] = n
		next.tally(n, 1)
	}
	notes := next.notes
	next.paths = sync.OnceValue(func() map[string]uint32 { return numbersOf(notes) })
	return &next
}

func numbersOf(notes []*note) map[string]uint32 {
	numbers := make(map[string]uint32, len(notes))
	for number, n := range notes {
		if n != nil {
			numbers[n.path] = uint32(number)
		}
	}
	return numbers
}

// tally adds a note to the statistics, or with sign -1 subtracts it.
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
	notes := make(map[uint32]*note)
	parts := make(map[uint32]int)
	for i := range view.segments {
		if err := view.segments[i].load(notes, parts); err != nil {
			return nil, err
		}
	}
	for number, found := range parts {
		if n := notes[number]; n == nil || n.parts() != found {
			return nil, fmt.Errorf("note number %d has %d parts and not what its record says", number, found)
		}
	}
	t := (&table{}).with(notes)
	t.generation = view.generation
	return t, nil
}

// load adds the notes of a segment by number, and counts their parts.
func (s *segmentView) load(notes map[uint32]*note, parts map[uint32]int) error {
	for local, row := range s.rows {
		if !s.live(uint32(local)) {
			continue
		}
		parts[row.note]++
		if row.part != 0 {
			continue
		}
		n, err := decodeNote(s.record(uint32(local)))
		if err != nil {
			return err
		}
		if notes[row.note] != nil {
			return fmt.Errorf("two notes have the number %d", row.note)
		}
		notes[row.note] = n
	}
	return nil
}
