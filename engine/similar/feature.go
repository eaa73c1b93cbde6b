// Package similar compares texts. It finds memories and notes near a text, checks whether two
// texts contradict each other, and records which memory supersedes which.
//
// Guarantee: it writes nothing. It returns a supersession as changes for the caller's
// transaction.
package similar

import (
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/engine/semantic"
)

// Similar has the operations of this package for callers with the same permissions.
type Similar struct {
	*core.View

	Graph    *graph.Graph
	Notes    *notes.Notes
	Semantic *semantic.Semantic
}
