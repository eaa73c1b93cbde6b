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

// StageWrites returns the write of a memory's stage to its note for TellStages, none if the note has no stage.
func (e *Promote) StageWrites(m *memory.Memory, by memory.Actor) []PendingWrite {
	if e.Notes.Vault == nil || !StageTold(m) {
		return nil
	}
	return []PendingWrite{e.NoteUpdate(m.ID, core.NotePath(m), []string{stageKey}, by, "")}
}

// TellStages queues the writes of the stages of memories that change together. Code that changes stages in the log
// calls it before or after the change: each write uses the stage at its own time.
func (e *Promote) TellStages(some []PendingWrite) error {
	if len(some) == 0 {
		return nil
	}
	err := e.Pending.PutAll(some)
	e.Writing.Nudge()
	return err
}
