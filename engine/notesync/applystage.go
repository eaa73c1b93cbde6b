package notesync

import (
	"context"
	"errors"
	"fmt"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
)

// applyStage gives a memory the stage that the user wrote in its note. A cold stage leaves the
// text in the note only, and a warm one restores it from there.
func (e *Sync) applyStage(ctx context.Context, m *memory.Memory, note *vault.Note) error {
	text := note.Carried.Fields["stage"]
	if text == "" {
		return nil
	}
	stage, err := memory.ParseStage(text)
	switch {
	case err != nil:
		return fmt.Errorf("emberd does not sync the stage of the note: %w", err)
	case stage.Cold() && !core.Shortened(m):
		return e.archiveWithNote(ctx, m, note, stage)
	case !stage.Cold() && core.Shortened(m):
		return e.restoreFromNote(m, note, stage)
	case stage == memory.Active && m.Stage == memory.Demoted:
		m.LastUsed = core.StampTime(e.Opt.Now()) // or it would fade again at once
	}
	m.Stage = stage
	return nil
}

// archiveWithNote archives a memory whose note has its text already.
func (e *Sync) archiveWithNote(ctx context.Context, m *memory.Memory, note *vault.Note, stage memory.Stage) error {
	switch {
	case m.Core:
		return errors.New(
			"emberd does not sync the stage of the note, because core memories never fade; remove the property stage")
	case !notes.HasText(note, m) || note.Size > core.WholeNote:
		return errors.New("emberd does not sync the stage of the note, because the text of the " +
			"note differs from the text of the memory; correct the text of the note")
	}
	left := core.ArchivedText{Stage: stage, Path: note.Path, Body: note.Carried.Body, Reason: "the note sets " +
		"this stage"}
	left.Summary, left.Terms = e.Lifecycle.Summarize(ctx, m.Content, m.Entities)
	if !core.ArchiveText(m, left, core.StampTime(e.Opt.Now())) {
		return errors.New("emberd does not sync the stage of the note, because a note " +
			"cannot store this text exactly; remove the property stage")
	}
	return nil
}

// restoreFromNote restores a memory's text from its note. It checks the text only if it has changed.
func (e *Sync) restoreFromNote(m *memory.Memory, note *vault.Note, stage memory.Stage) error {
	body := note.Carried.Body
	if rekindle.Digest(body) != m.TextDigest {
		if err := e.Notes.CheckContent(note, ""); err != nil {
			return err
		}
	}
	core.RestoreText(m, body, note.Path, memory.Active)
	m.LastUsed = core.StampTime(e.Opt.Now())
	m.Stage = stage
	return nil
}
