package stm

import "sort"

// KeyRev is the version of one key of a memory: another one each time the key is written
// or removed, "" for a key that never was.
func (r *Row) KeyRev(key string) string {
	if at := r.stampOf(key); !at.IsZero() {
		return at.String()
	}
	return ""
}

// EntryOf is the journal entry that wrote or removed a key of a memory last, "" if the
// journal does not have it any more. Histories are not read for it.
func (s *Store) EntryOf(r *Row, key string) string {
	tx, ok := s.journal.entryAt(r.stampOf(key))
	if !ok {
		return ""
	}
	return tx.String()
}

// entryAt is the entry of the line with a stamp.
func (j *journal) entryAt(stamp Stamp) (tx Stamp, ok bool) {
	defer j.read()()
	for _, refs := range [][]lineRef{j.refs, j.cold} {
		i := sort.Search(len(refs), func(i int) bool { return !stamp.after(refs[i].stamp) })
		if i < len(refs) && refs[i].stamp == stamp {
			return refs[i].tx, true
		}
	}
	return Stamp{}, false
}
