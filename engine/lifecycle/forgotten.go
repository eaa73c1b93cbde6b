package lifecycle

import (
	"context"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
)

// AskedAgain returns an error for a text that the user deleted before. If again is set, it
// records in tx that the text is saved on purpose.
func (e *Lifecycle) AskedAgain(tx *stm.Tx, text string, again bool) error {
	found := e.Stm.ForgottenAs(text)
	if len(found) == 0 {
		return nil
	}
	if again {
		for _, f := range found {
			tx.Again = append(tx.Again, f.ID)
		}
		return nil
	}
	was, day := found[0], found[0].At.Local().Format("2006-01-02")
	if e.Stm.Trashed(was.ID) {
		return memory.Errorf(memory.Forgotten, "the memory with this text was deleted on %s; to restore the memory, "+
			"run emberd rekindle %s; to save the text again, use --again (again)", day, was.ID.Short()).At("content")
	}
	return memory.Errorf(memory.Forgotten, "the memory with this text was deleted on %s and is no longer "+
		"in the trash; to save the text again, use --again (again)", day).At("content")
}

// WholeText returns the text of a memory. For an archived memory it is that of its note, if
// the note still has it, else the summary.
func (e *Lifecycle) WholeText(ctx context.Context, m *memory.Memory) string {
	home := core.NotePath(m)
	if !m.Stage.Cold() || home == "" || e.Notes.Vault == nil {
		return m.Content
	}
	note, err := e.Notes.Vault.Root.Load().Read(ctx, home)
	if err != nil || !promote.Carries(note, m.ID) || rekindle.Digest(note.Carried.Body) != m.TextDigest {
		return m.Content
	}
	return note.Carried.Body
}
