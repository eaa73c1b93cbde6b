package engine

import (
	"context"

	"emberd/memory"
	"emberd/rekindle"
	"emberd/stm"
)

// askedAgain refuses a text that somebody had forgotten. If it is to be saved again,
// tx says that this was meant.
func (e *Engine) askedAgain(tx *stm.Tx, text string, again bool) error {
	found := e.stm.ForgottenAs(text)
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
	if e.stm.Trashed(was.ID) {
		return memory.Errorf(memory.Forgotten, "this text was forgotten on %s; bring it back with emberd trash restore %s, or save it anew with --again (again)", day, was.ID.Short()).At("content")
	}
	return memory.Errorf(memory.Forgotten, "this text was forgotten on %s and is not in the trash any more; save it anew with --again (again)", day).At("content")
}

// wholeText is the text of a memory: that of its note where only a summary is left,
// if that note still has it.
func (e *Engine) wholeText(ctx context.Context, m *memory.Memory) string {
	home := homeOf(m)
	if !m.Stage.Cold() || home == "" || e.notes == nil {
		return m.Content
	}
	note, err := e.notes.vault.Load().Read(ctx, home)
	if err != nil || !carries(note, m.ID) || rekindle.Digest(note.Carried.Body) != m.TextDigest {
		return m.Content
	}
	return note.Carried.Body
}
