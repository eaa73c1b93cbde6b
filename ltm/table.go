package ltm

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"emberd/internal/contain"
	"emberd/internal/relevance"
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
	inverse    uint64                   // of lengths, see relevance.Lengths
	paths      func() map[string]uint32 // number by path, made when it is asked for
}

func (n *note) size() size {
	return size{uint32(n.bodyLen), uint32(n.namesLen), uint32(n.tagsLen), uint32(n.otherLen)}
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

func (t *table) norms() norms {
	per := func(sum float64, n int) float64 { return max(sum/float64(max(n, 1)), 1) }
	return norms{
		body: per(t.body, t.count), passage: per(t.body, t.passages),
		names: per(t.names, t.count), tags: per(t.tags, t.count), other: per(t.other, t.count),
	}
}

// tally adds a note to the statistics, or with sign -1 subtracts it.
func (t *table) tally(n *note, sign int) {
	if n == nil {
		return
	}
	var l relevance.Lengths
	l.AddText(uint64(n.bodyLen), 1)
	t.inverse += uint64(sign) * l.Inverse
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
	var live []location
	parts := make(map[uint32]int) // of notes with more than one
	t, count := &table{generation: view.generation}, uint32(0)
	for i := range view.segments {
		in := &view.segments[i]
		for doc := range in.rows {
			switch r := in.rows[doc]; {
			case !in.live(uint32(doc)):
			case r.part > 0:
				parts[r.note]++
			default:
				live = append(live, location{i, uint32(doc)})
				count = max(count, r.note+1)
			}
		}
	}
	t.notes = make([]*note, count)
	if err := t.load(view, live); err != nil {
		return nil, err
	}
	return t.checked(parts, len(live))
}

// location is where a document is in a view.
type location struct {
	segment int
	doc     uint32
}

// load reads the notes whose first documents are at places of a view, on all processors.
func (t *table) load(v *view, at []location) error {
	var failed atomic.Pointer[error]
	var readers contain.Group
	each := max(1, (len(at)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for some := range slices.Chunk(at, each) {
		readers.Go(func() {
			reading(func() {
				if err := t.loadSome(v, some); err != nil {
					failed.Store(&err)
				}
			})
		})
	}
	readers.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (t *table) loadSome(v *view, some []location) error {
	fold := newFolder()
	for _, p := range some {
		in := &v.segments[p.segment]
		n, err := decodeNote(in.record(p.doc), fold)
		if err != nil {
			return err
		}
		t.notes[in.rows[p.doc].note] = n
	}
	return nil
}

// checked completes a table that was read: as many notes as there were records, with their parts.
func (t *table) checked(parts map[uint32]int, records int) (*table, error) {
	for number, n := range t.notes {
		if n == nil {
			continue
		}
		if found := 1 + parts[uint32(number)]; n.parts() != found {
			return nil, fmt.Errorf(
				"note number %d has %d parts in the index, but its record has another number of parts", number, found)
		}
		delete(parts, uint32(number))
		t.tally(n, 1)
	}
	if len(parts) > 0 || t.count != records {
		return nil, fmt.Errorf(
			"the note index contains %d records for %d notes, and parts of %d notes without a record", records, t.count,
			len(parts))
	}
	notes := t.notes
	t.paths = sync.OnceValue(func() map[string]uint32 { return numbersOf(notes) })
	return t, nil
}
