// Package semantic keeps embeddings of memories and notes, in one vector index for each model,
// and embeds queries.
//
// Guarantee: the embedding of a purged text is removed from the vector index, and a search
// never waits longer than the configured time for the embedding of its query.
package semantic

import (
	"emberd/engine/core"
	"emberd/engine/notes"
)

// Semantic has the operations of this package for callers with the same permissions.
type Semantic struct {
	*core.View
	*State

	Notes *notes.Notes
}

// State is what all views share.
type State struct {
	Meaning *Embeddings // nil without an embedding model
	Indexes OpenIndexes
}
