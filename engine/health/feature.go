// Package health reports stale, unused and duplicate memories, merges duplicates, and migrates
// old records.
//
// Guarantee: reports change nothing.
package health

import (
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/merge"
	"emberd/engine/review"
	"emberd/engine/semantic"
	"emberd/engine/similar"
)

// Health has the operations of this package for callers with the same permissions.
type Health struct {
	*core.View
	*State

	Merge     *merge.Merge
	Review    *review.Review
	Semantic  *semantic.Semantic
	Similar   *similar.Similar
	Lifecycle *lifecycle.Lifecycle
}

// State is what all views share.
type State struct {
	Reports *HealthReports
}
