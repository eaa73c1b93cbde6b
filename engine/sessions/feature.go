// Package sessions answers the hooks of coding agents: it tells a model what is known when a session begins and when a
// person sends a prompt, and keeps sentences of what was said.
//
// Guarantees: a memory that a session was shown is not shown to it again before the agent shortened what it
// remembers. Being shown counts as no use; an answer that uses a memory does. What is kept counts as the words of an
// agent, whatever the hook says about who typed it, and can be taken back for a whole session. Prompts and answers
// are not stored, unless an import asks for it: package transcripts has those.
package sessions

import (
	"path/filepath"
	"sync"

	"emberd/engine/core"
	"emberd/engine/history"
	"emberd/engine/learn"
	"emberd/engine/memories"
	"emberd/engine/recall"
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
	Search   *search.Search

	Transcripts *transcripts.Transcripts
}

// State is what all views share: the records of sessions, each in a file.
type State struct {
	dir  string
	mu   sync.Mutex         // guards what follows, and the files
	open map[string]*record // those of late, by the name of the file
}

// NewState returns the state for the settings.
func NewState(opt *core.Options) State {
	return State{dir: filepath.Join(opt.State, "sessions"), open: map[string]*record{}}
}
