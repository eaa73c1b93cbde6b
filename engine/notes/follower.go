package notes

import (
	"emberd/vault"
	"emberd/watcher"
)

// Follower receives the notes of the vault as they are read. The goroutine of VaultNotes.Run
// makes the calls of a batch. The calls about a single note may also come from a goroutine
// that reads one note or all links.
type Follower interface {
	Begin(moved []watcher.Move)           // a batch starts
	Read(read []Reading, gone []string)   // these notes will be indexed next
	Listed(read []Reading, gone []string) // the same; unreadable notes are among those gone
	// Indexed says that these notes are in the index. If purged is true, one is of a purged memory.
	Indexed(read []Reading, gone []string, purged bool)
	// Purged reports whether a note had the ID of a purged memory before it changed or was deleted,
	// so that its earlier text must leave the index's files.
	Purged(path string) bool
	Lost(path string)              // the note was deleted
	Remembered(note *vault.Note)   // a note was read that does not list memories
	Linked(note *vault.Note)       // the links of a note were read
	AllLinked()                    // the links of all notes were read
	End(first bool)                // the batch has ended
	EndOfOne()                     // a note was read outside of a batch
	Lists(path string) bool        // reports whether emberd writes a list of memories there
	Settling() (waiting, held int) // numbers of memories with changed notes, and of deletions to confirm
}
