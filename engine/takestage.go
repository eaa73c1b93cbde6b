package engine

import (
	"context"
	"errors"
	"fmt"

	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
)

// shortened reports whether what the log has of a memory is a summary, and its text in a
// note. All cold memories are and no other, unless two devices changed one at once: then
// this says what its content is, and [Engine.mend] makes it whole.
func shortened(m *memory.Memory) bool { return m.TextDigest != "" }

// takeStage gives a memory the stage that a human wrote into its note. With a cold one
// its text stays in the note only, and with a warm one it comes back from there.
func (e *Engine) takeStage(ctx context.Context, m *memory.Memory, note *vault.Note) error {
	text := note.Carried.Fields["stage"]
	if text == "" {
		return nil
	}
	stage, err := memory.ParseStage(text)
	switch {
	case err != nil:
		return fmt.Errorf("its stage is not taken over: %w", err)
	case stage.Cold() && !shortened(m):
		return e.coolDown(ctx, m, note, stage)
	case !stage.Cold() && shortened(m):
		return e.warmUp(m, note, stage)
	case stage == memory.Active && m.Stage == memory.Demoted:
		m.LastUsed = stampTime(e.opt.Now()) // or it would fade again at once
	}
	m.Stage = stage
	return nil
}

// coolDown archives a memory whose note is to keep its text, which it has.
func (e *Engine) coolDown(ctx context.Context, m *memory.Memory, note *vault.Note, stage memory.Stage) error {
	switch {
	case m.Core:
		return errors.New("its stage is not taken over: it is a core memory, and those never fade; remove the property stage")
	case !says(note, m) || note.Size > wholeNote:
		return errors.New("its stage is not taken over: the memory has another text than the note, which would be lost; make the note say what is right")
	}
	left := remains{stage: stage, path: note.Path, body: note.Carried.Body, reason: "its note says so"}
	left.summary, left.terms = e.summarize(ctx, m.Content, m.Entities)
	if !chill(m, left, stampTime(e.opt.Now())) {
		return errors.New("its stage is not taken over: a note does not keep this text to the byte, so that it stays in the log; remove the property stage")
	}
	return nil
}

// warmUp gives a memory the text of its note back. One that is as it was is not looked
// into again.
func (e *Engine) warmUp(m *memory.Memory, note *vault.Note, stage memory.Stage) error {
	body := note.Carried.Body
	if rekindle.Digest(body) != m.TextDigest {
		if err := e.takeable(note, ""); err != nil {
			return err
		}
	}
	warm(m, body, note.Path, stampTime(e.opt.Now()))
	m.Stage = stage
	return nil
}
