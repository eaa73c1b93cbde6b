// Package learn has the tools of AI agents: add, query, verify, reinforce, observe and
// classify.
//
// Guarantee: adding a text that is already stored reinforces the stored memory instead of
// saving a second one.
package learn

import (
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/recall"
	"emberd/engine/search"
	"emberd/engine/similar"
)

// Learn has the operations of this package for callers with the same permissions.
type Learn struct {
	*core.View
	*State

	Graph     *graph.Graph
	Lifecycle *lifecycle.Lifecycle
	Memories  *memories.Memories
	Notes     *notes.Notes
	Promote   *promote.Promote
	Recall    *recall.Guard
	Search    *search.Search
	Similar   *similar.Similar
}

// State is what all views share.
type State struct {
	adding PendingAdds
}
