package history

import (
	"emberd/memory"
	"emberd/stm/record"
)

// restoreVerb is the journal verb of [Timeline.Restore].
const restoreVerb = "restore"

// Deleted returns which memories are in the trash because a caller deleted them. A memory that is there because the
// change that created it was undone is not among them: it is as if it was never saved.
func (s *Timeline) Deleted(ids ...memory.ID) map[memory.ID]bool {
	created, deleted := make(map[record.Stamp]bool), make(map[memory.ID]bool)
	for _, id := range ids {
		if !s.Trashed(id) {
			continue
		}
		g, _ := s.Tombstone(id)
		if _, seen := created[g.Tx]; !seen {
			created[g.Tx] = undoesCreation(s, g.Tx)
		}
		deleted[id] = !created[g.Tx]
	}
	return deleted
}

// undoesCreation reports whether an entry that moved a memory to the trash did so because it undid the change that
// created the memory. An undo of an undo repeats the change.
func undoesCreation(s *Timeline, tx record.Stamp) bool {
	for undoes := false; ; undoes = !undoes {
		refs, _ := s.wal.Journal.EntryLines(tx)
		if len(refs) == 0 {
			return false
		}
		last := refs[len(refs)-1] // which names the entry that it undoes
		l, err := s.wal.Journal.ReadLine(last.At, last.Stamp)
		if err != nil {
			return false
		}
		if l.Verb != UndoVerb {
			return undoes && l.Verb != restoreVerb
		}
		if l.Ref == (record.Stamp{}) || !tx.After(l.Ref) {
			return false
		}
		tx = l.Ref
	}
}
