package engine

import (
	"emberd/memory"
	"emberd/vault"
)

// stageTold reports whether the note of a memory states a stage, as far as is known.
func stageTold(m *memory.Memory) bool {
	return homeOf(m) != "" && m.NoteGone.IsZero() && statesStage(m.NoteSeen)
}

// statesStage reports whether a note of which that was seen states a stage.
func statesStage(seen map[string]string) bool {
	none := fingerprints(new(vault.Carried))["stage"]
	return seen["stage"] != "" && seen["stage"] != none
}

// tellStage has the stage of a memory written to its note if that states one, as soon as
// it can be. It is for whoever changes the stage in the log, before or after that: what
// is written is the stage that the memory has by then. Notes that state none stay so.
func (e *Engine) tellStage(m *memory.Memory, by memory.Actor) error {
	if e.notes == nil || !stageTold(m) {
		return nil
	}
	return e.stageToNote(m, homeOf(m), by)
}

// stageToNote is the same for a note that was seen to state a stage.
func (e *Engine) stageToNote(m *memory.Memory, path string, by memory.Actor) error {
	w := e.laterWrite(m.ID, updateNote, path, by, "")
	w.Fields, w.Next = []string{"stage"}, w.Since
	err := e.pending.put(w)
	e.writing.nudge()
	return err
}
