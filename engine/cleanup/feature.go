// Package cleanup plans a cleanup of a collection, runs it in phases that survive a crash,
// validates the result, and rolls it back if search got worse.
//
// Guarantee: an interrupted run is resumed or rolled back.
package cleanup

import (
	"emberd/engine/core"
	"emberd/engine/history"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/merge"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/review"
	"emberd/engine/search"
	"emberd/engine/similar"
	"emberd/engine/storage"
)

// Cleanup has the operations of this package for callers with the same permissions.
type Cleanup struct {
	*core.View
	*State

	History   *history.History
	Lifecycle *lifecycle.Lifecycle
	Merge     *merge.Merge
	Notes     *notes.Notes
	Promote   *promote.Promote
	Review    *review.Review
	Search    *search.Search
	Similar   *similar.Similar
	Storage   *storage.Storage
	Memories  *memories.Memories
}

// State is what all views share.
type State struct {
	Cleanups *Cleanups
}
