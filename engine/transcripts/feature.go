// Package transcripts stores what was said in past sessions of coding agents, to be searched and for nothing else.
//
// Guarantees: each session is one Markdown file in the folder transcripts of the state folder; the index over them is
// derived, and is built anew if it is lost. What a file says is never a memory, and no other feature reads it. What
// looks like a credential is never written. A session that was forgotten is not stored again, nor is a message that a
// purge removed.
package transcripts

import (
	"path/filepath"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/ltm"
)

// Transcripts has the operations of this package for callers with the same permissions.
type Transcripts struct {
	*core.View
	*State
}

// State is what all views share.
type State struct {
	dir      string // of the files
	indexDir string

	mu     sync.Mutex // guards what follows, and the files
	index  *ltm.Index // nil until it is needed
	listed time.Time  // when the folder was last changed as of the last look at it
	closed bool

	heads sync.Map // head by name of the file, of those in the index
}

// NewState returns the state for the settings. It opens nothing: who stores no sessions has no index of them.
func NewState(opt *core.Options) State {
	return State{dir: filepath.Join(opt.State, "transcripts"),
		indexDir: filepath.Join(opt.State, "index", "transcripts")}
}

// Close closes the index. The caller makes sure that no operation runs.
func (s *State) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.index == nil {
		return nil
	}
	return s.index.Close()
}
