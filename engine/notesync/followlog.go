package notesync

import (
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
)

// followLog queues the fields in which the log is ahead of a memory's note, and reports whether there are
// any. It is called with the fields of the note applied to the memory. The user changed nothing in them
// since the last sync, so the memory changed on a device that did not know of the note then. All devices
// write the same bytes, because what they write depends on the merged memory only.
func (t *NoteSync) followLog(m *memory.Memory, s *memoryNotes) (behind bool, err error) {
	if m.PromotedTo == "" || m.PromotedTo != s.note.Path || m.Stage.Cold() || core.Shortened(m) {
		return false, nil
	}
	says, same := notes.Fingerprints(s.note.Carried), notes.Agreed(m, s.note.Carried)
	waiting := t.e.Promote.Pending.Fields(m.ID)
	fields := slices.DeleteFunc([]string{"category", core.ContentField, "tags"}, func(field string) bool {
		return same[field] != "" || m.NoteSeen[field] != says[field] || slices.Contains(waiting, field)
	})
	_, err = t.e.Promote.Requeue(m, s.note.Path, fields, m.NoteSeen, core.VaultActor(), "")
	return len(fields) > 0, err
}

// leaveDecided removes from the queued write of a memory's note the fields that the note has just decided. was
// is the memory before that.
func (t *NoteSync) leaveDecided(was, m *memory.Memory) error {
	return t.e.Promote.Pending.Leave(m.ID, slices.DeleteFunc(notes.NoteFields(),
		func(field string) bool { return m.NoteSeen[field] == was.NoteSeen[field] }))
}
