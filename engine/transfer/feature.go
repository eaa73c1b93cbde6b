// Package transfer imports and exports memories as records.
//
// Guarantee: an import of an export gives the same memories, and a second import changes nothing. A memory
// that exists is never overwritten.
package transfer

import (
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/lifecycle"
)

// Transfer has the operations of this package for callers with the same permissions.
type Transfer struct {
	*core.View

	Graph     *graph.Graph
	Lifecycle *lifecycle.Lifecycle
}
