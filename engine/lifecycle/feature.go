// Package lifecycle moves memories between stages: it demotes, archives, rekindles, promotes
// memories that qualify, and collects those below the threshold.
//
// Guarantee: a text leaves the log only if its note gives it back byte for byte. Every run is
// one change that can be undone.
package lifecycle

import (
	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/search"
)

// Lifecycle has the operations of this package for callers with the same permissions.
type Lifecycle struct {
	*core.View
	*State

	Notes   *notes.Notes
	Promote *promote.Promote
	Search  *search.Search
}

// State is what all views share.
type State struct {
	Author    *AuthorStats // writes summaries of archived texts
	Scheduler *LifecycleScheduler
}
