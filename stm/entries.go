package stm

import (
	"slices"

	"emberd/memory"
)

// Journaled is an entry of the journal, and what became of it.
type Journaled struct {
	Entry
	Undone bool   // it was taken back, and that was not
	Undoes string // journal entry that it takes back, "" none
}

// Entries lists entries of the journal, newest first and at most limit, from those
// before an entry, or from the newest if that is zero. Histories are read for it.
// Of an entry of which compaction has kept a part, that part is told. Total is how
// many entries there are.
func (s *Store) Entries(before Stamp, limit int) (page []Journaled, total int, err error) {
	s.thaw()
	chosen, total := s.journal.before(before, limit)
	for _, tx := range chosen {
		one, err := s.entry(tx)
		if err != nil {
			return nil, 0, err
		}
		page = append(page, one)
	}
	return page, total, nil
}

// before returns the latest entries before one, newest first.
func (j *journal) before(entry Stamp, limit int) (chosen []Stamp, total int) {
	defer j.read()()
	all := make([]Stamp, 0, len(j.refs)+len(j.cold))
	for _, r := range mergedRefs(j.refs, j.cold) {
		all = append(all, r.tx)
	}
	slices.SortFunc(all, func(a, b Stamp) int { return b.Compare(a) })
	all = slices.Compact(all)
	i := 0
	if !entry.IsZero() {
		i, _ = slices.BinarySearchFunc(all, entry, func(a, b Stamp) int { return b.Compare(a) })
		if i < len(all) && all[i] == entry {
			i++
		}
	}
	return all[i:min(i+limit, len(all))], len(all)
}

// entry adds up the lines of an entry.
func (s *Store) entry(tx Stamp) (out Journaled, err error) {
	refs, undone := s.journal.lines(tx)
	ids := map[memory.ID]bool{}
	for i, ref := range refs {
		l, err := s.readLine(ref.at, ref.stamp)
		if err != nil {
			return out, err
		}
		if i == 0 {
			out.Entry = l.entry()
			out.At, out.IDs = tx.Time(), nil
		}
		if !l.ref.IsZero() {
			out.Undoes = l.ref.String()
		}
		for _, c := range l.changes {
			if !ids[c.id] {
				ids[c.id] = true
				out.IDs = append(out.IDs, c.id)
			}
		}
	}
	out.Undone = undone
	return out, nil
}
