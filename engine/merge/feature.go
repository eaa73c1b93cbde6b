// Package merge finds groups of similar memories and merges each into one memory.
//
// Guarantee: a merge keeps every fact and the relations, is one change, and can be undone.
package merge

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/notes"
	"emberd/engine/semantic"
	"emberd/engine/similar"
)

// Merge has the operations of this package for callers with the same permissions.
type Merge struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Memories  *memories.Memories
	Similar   *similar.Similar
	Notes     *notes.Notes
	Semantic  *semantic.Semantic
}

// State is what all views share.
type State struct {
	Reported *ReportedClusters // clusters that a caller can name
}
