// Package memories saves, shows, lists, edits, relates, deletes, imports and exports memories.
//
// Guarantee: when an operation returns, its change is on disk, and every change can be undone.
package memories

import (
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/lifecycle"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/recall"
	"emberd/engine/search"
	"emberd/engine/similar"
)

// Memories has the operations of this package for callers with the same permissions.
type Memories struct {
	*core.View

	Graph     *graph.Graph
	Lifecycle *lifecycle.Lifecycle
	Notes     *notes.Notes
	Promote   *promote.Promote
	Recall    *recall.Guard
	Search    *search.Search
	Similar   *similar.Similar
}
