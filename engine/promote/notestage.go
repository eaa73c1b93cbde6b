package promote

import (
	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault"
)

// StageTold reports whether the note of a memory had a stage when it was last read.
func StageTold(m *memory.Memory) bool {
	return core.NotePath(m) != "" && m.NoteGone.IsZero() && StatesStage(m.NoteSeen)
}

// StatesStage reports whether these fingerprints are of a note with a stage.
func StatesStage(seen map[string]string) bool {
	none := notes.Fingerprints(new(vault.Carried))["stage"]
	return seen["stage"] != "" && seen["stage"] != none
}

// TellStage queues the write of a memory's stage to its note, if the note has one. Code that
// changes the stage in the log calls it before or after the change: the write uses the stage
// at that time. Notes without a stage stay so.
func (e *Promote) TellStage(m *memory.Memory, by memory.Actor) error {
	if e.Notes.Vault == nil || !StageTold(m) {
		return nil
	}
	return e.StageToNote(m, core.NotePath(m), by)
}

// StageToNote does the same for a note that is known to have a stage.
func (e *Promote) StageToNote(m *memory.Memory, path string, by memory.Actor) error {
	w := e.newPendingWrite(m.ID, UpdateNote, path, by, "")
	w.Fields, w.Next = []string{"stage"}, w.Since
	err := e.Pending.Put(w)
	e.Writing.Nudge()
	return err
}
