// Package agents runs the maintenance agents on the primary device: decay, cluster, merge,
// promote and relate.
//
// Guarantee: an agent changes only what the settings allow without review, and creates review
// items for everything else.
package agents

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/merge"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/review"
)

// Agents has the operations of this package for callers with the same permissions.
type Agents struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Memories  *memories.Memories
	Merge     *merge.Merge
	Notes     *notes.Notes
	Promote   *promote.Promote
	Review    *review.Review
}

// State is what all views share.
type State struct {
	AgentScheduler *AgentScheduler
}
