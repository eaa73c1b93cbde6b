// Package graph returns the entities that memories and notes mention, the relations between
// them, and the knowledge graph.
//
// Guarantee: a caller's graph contains only what comes from memories and notes that the caller
// can read.
package graph

import (
	"emberd/engine/core"
	"emberd/engine/notes"
)

// Graph has the operations of this package for callers with the same permissions.
type Graph struct {
	*core.View

	Notes *notes.Notes

	Names    *KnownNames
	Entities *EntityGraph
}
