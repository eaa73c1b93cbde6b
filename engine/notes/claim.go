package notes

import (
	"fmt"

	"emberd/engine/core"
	"emberd/memory"
)

// errOpenClaim returns an error for a note with the ID of a memory that is not known as its note, unless
// the user said that it is not.
func (e *Notes) errOpenClaim(m *memory.Memory, path string) error {
	if _, decided := e.claim(m, path); decided {
		return nil
	}
	return e.ErrClaimed(m, path)
}

// ErrClaimed returns the error for a memory whose note is missing while the note at path has its ID.
func (e *Notes) ErrClaimed(m *memory.Memory, path string) error {
	about, _ := e.claim(m, path)
	if path == core.NotePath(m) {
		return memory.Errorf(memory.Conflict,
			"note %q of memory %s was deleted, and another note at the same path contains the ID of the memory; %s",
			path, m.ID, about)
	}
	return memory.Errorf(memory.Conflict,
		"note %q of memory %s is missing, and note %q contains the ID of the memory but different content; %s",
		core.NotePath(m), m.ID, path, about)
}

// ClaimAdvice returns what the user can do about the note at path, which has the ID of a memory and is not
// known as its note.
func (e *Notes) ClaimAdvice(m *memory.Memory, path string) string {
	about, _ := e.claim(m, path)
	return about
}

// claim returns the advice about a note with the ID of a memory, and whether the question about it is
// closed.
func (e *Notes) claim(m *memory.Memory, path string) (advice string, decided bool) {
	row, live := e.Stm.Get(m.ID)
	if !live {
		return "", false
	}
	item, asked := core.NoteItem(row, path)
	switch {
	case !asked:
		return "wait two minutes for emberd to create a review item, and then run: " +
			"emberd review list --agent note", false
	case item.Status != memory.ItemClosed:
		return "to decide whether this note belongs to the memory, run: emberd review show " + item.Short(), false
	case core.Shortened(m):
		return fmt.Sprintf("according to review item %s, this note does not belong to the "+
			"memory; to search for the text of the memory, run: emberd rekindle %s", item.Short(), m.ID.Short()), true
	}
	return fmt.Sprintf("according to review item %s, this note does not belong to the "+
		"memory; to create another note for the memory, run: emberd promote %s", item.Short(), m.ID.Short()), true
}
