// Package sessions answers the hooks of coding agents: it tells a model what is known when a session begins and when a
// person sends a prompt, and keeps sentences of what was said.
//
// Guarantees: a memory that a session was shown is not shown to it again before the agent shortened what it
// remembers. Being shown counts as no use; an answer that uses a memory does. What is kept counts as the words of an
// agent, whatever the hook says about who typed it, and can be taken back for a whole session. Prompts and answers
// are not stored, unless an import asks for it: package transcripts has those. The end of a turn is answered when what
// was read and kept of it is on the disk; what a session was told is written after the answer, so that a crash may have
// it told once more. No session waits for another's file.
package sessions

import (
	"emberd/engine/core"
	"emberd/engine/history"
	"emberd/engine/learn"
	"emberd/engine/memories"
	"emberd/engine/recall"
	"emberd/engine/review"
	"emberd/engine/search"
	"emberd/engine/transcripts"
)

// Sessions has the operations of this package for callers with the same permissions.
type Sessions struct {
	*core.View
	*State

	History  *history.History
	Learn    *learn.Learn
	Memories *memories.Memories
	Recall   *recall.Guard
	Review   *review.Review
	Search   *search.Search

	Transcripts *transcripts.Transcripts
}
