// Package search finds memories and notes by words and embeddings, ranks them, and explains
// why a search does or does not return an item.
//
// Guarantee: a search changes access counts only. With explain, the answer shows every factor of a rank.
package search

import (
	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/engine/semantic"
	"emberd/engine/transcripts"
)

// Search has the operations of this package for callers with the same permissions.
type Search struct {
	*core.View
	*State

	Graph    *graph.Graph
	Notes    *notes.Notes
	Semantic *semantic.Semantic

	Transcripts *transcripts.Transcripts
}

// State is what all views share.
type State struct {
	LookedBack chan struct{} // room for one token: a caller asked about an earlier moment
}
