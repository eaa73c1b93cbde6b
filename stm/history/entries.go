package history

import (
	"errors"
	"math"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
)

// Journaled is an entry of the journal, and what became of it.
type Journaled struct {
	record.Entry
	Undone bool   // it was reverted, and that was not
	Undoes string // journal entry that it takes back, "" none
}

// Entries lists entries of the journal, newest first and at most limit, from those
// before an entry, or from the newest if that is zero. Histories are read for it.
// Of an entry of which compaction has kept a part, that part is told, and so is what
// can be read of one with a line that cannot: of a file of another device that is gone,
// no more than when it was. Total is how many entries there are.
func (s *Timeline) Entries(before record.Stamp, limit int) (page []Journaled, total int) {
	s.wal.Journal.LoadHistory()
	chosen, total := s.wal.Journal.Before(before, limit)
	for _, tx := range chosen {
		one, err := s.entry(tx)
		if err != nil { // compaction may have moved a line in the meantime
			s.wal.Journal.LoadHistory()
			if one, err = s.entry(tx); err != nil {
				s.wal.Logger.Warn("change not read from the log", "entry", tx.String(), "error", err)
			}
		}
		page = append(page, one)
	}
	return page, total
}

// Named returns the entries whose names begin with a text. Histories are read for it.
func (s *Timeline) Named(begin string) []record.Stamp {
	s.wal.Journal.LoadHistory()
	all, _ := s.wal.Journal.Before(record.Stamp{}, math.MaxInt)
	return slices.DeleteFunc(all, func(tx record.Stamp) bool { return !strings.HasPrefix(tx.String(), begin) })
}

// entry adds up the lines of an entry, those that can be read.
func (s *Timeline) entry(tx record.Stamp) (out Journaled, failed error) {
	refs, undone := s.wal.Journal.Lines(tx)
	ids := map[memory.ID]bool{}
	for _, ref := range refs {
		l, err := s.wal.Journal.ReadLine(ref.At, ref.Stamp)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if out.Verb == "" {
			out.Entry = l.Entry()
			out.IDs = nil
		}
		if !l.Ref.IsZero() {
			out.Undoes = l.Ref.String()
		}
		for _, c := range l.Changes {
			if !ids[c.ID] {
				ids[c.ID] = true
				out.IDs = append(out.IDs, c.ID)
			}
		}
	}
	out.Tx, out.At, out.Undone = tx.String(), tx.Time(), undone
	return out, failed
}

// Undone reports whether a journal entry was reverted, by one that was not.
func (s *Timeline) Undone(entry string) bool {
	tx, err := record.ParseStamp(entry)
	if err != nil {
		return false
	}
	_, undone := s.wal.Journal.EntryLines(tx)
	return undone
}

// InForce reports whether the journal has an entry that was not reverted.
func (s *Timeline) InForce(entry string) bool {
	tx, err := record.ParseStamp(entry)
	if err != nil {
		return false
	}
	refs, undone := s.wal.Journal.EntryLines(tx)
	return len(refs) > 0 && !undone
}

// EntryOf is the journal entry that wrote or removed a key of a memory last, "" if the
// journal does not have it any more. Histories are not read for it.
func (s *Timeline) EntryOf(r *table.Row, key string) string {
	tx, ok := s.wal.Journal.EntryAt(r.StampOf(key))
	if !ok {
		return ""
	}
	return tx.String()
}
