package stm

import (
	"errors"
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
// Of an entry of which compaction has kept a part, that part is told, and so is what
// can be read of one with a line that cannot: of a file of another device that is gone,
// no more than when it was. Total is how many entries there are.
func (s *Store) Entries(before Stamp, limit int) (page []Journaled, total int) {
	s.thaw()
	chosen, total := s.journal.before(before, limit)
	for _, tx := range chosen {
		one, err := s.entry(tx)
		if err != nil { // compaction may have moved a line meanwhile
			s.thaw()
			if one, err = s.entry(tx); err != nil {
				s.log.Warn("line of the journal not read", "entry", tx.String(), "error", err)
			}
		}
		page = append(page, one)
	}
	return page, total
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

// entry adds up the lines of an entry, those that can be read.
func (s *Store) entry(tx Stamp) (out Journaled, failed error) {
	refs, undone := s.journal.lines(tx)
	ids := map[memory.ID]bool{}
	for _, ref := range refs {
		l, err := s.readLine(ref.at, ref.stamp)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if out.Verb == "" {
			out.Entry = l.entry()
			out.IDs = nil
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
	out.Tx, out.At, out.Undone = tx.String(), tx.Time(), undone
	return out, failed
}

// Undone reports whether a journal entry was taken back, by one that was not.
func (s *Store) Undone(entry string) bool {
	tx, err := ParseStamp(entry)
	if err != nil {
		return false
	}
	_, undone := s.entryLines(tx)
	return undone
}
