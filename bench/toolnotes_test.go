package bench

import (
	"fmt"

	"emberd/op"
)

// noteCalls are those of the tools for notes.
func (s *toolStore) noteCalls() map[string]func(i int) object {
	return map[string]func(i int) object{
		"note_write": func(int) object {
			return object{"path": s.newNotePath(), "text": s.texts.text(typicalText)}
		},
		"note_append": func(int) object { return object{"path": s.newNote(), "text": s.texts.text(typicalText / 3)} },
		"note_edit": func(int) object {
			return object{"path": s.newNote(), "find": "to be replaced", "replace": s.texts.text(typicalText / 3)}
		},
		"note_move":       func(int) object { return object{"path": s.newNote(), "to": s.newNotePath()} },
		"note_context":    func(int) object { return object{"path": s.note} },
		"recent_activity": func(int) object { return object{} },
	}
}

// newNotePath returns where there is no note.
func (s *toolStore) newNotePath() string {
	s.notes++
	return fmt.Sprintf("Memories/Agents/Note %d.md", s.notes)
}

// newNote returns the path of a new note that an agent may change.
func (s *toolStore) newNote() string {
	req := op.NoteWriteRequest{Path: s.newNotePath(), Text: s.texts.text(typicalText) + "\n\nto be replaced\n"}
	return call(s.tb, s.d, op.NoteWrite, &req).Path
}
