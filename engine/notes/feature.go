// Package notes reads the notes of the vault, indexes them, follows their changes and finds
// the texts of archived memories in them. It never changes a note.
//
// Guarantees: when a batch of the watcher has been read, its notes are searchable. A later
// reading of a note replaces an earlier one.
package notes

import (
	"emberd/engine/core"
	"emberd/memory"
)

// Notes has the operations of this package for callers with the same permissions.
type Notes struct {
	*core.View
	*State

	Vault *VaultNotes // nil without a vault
}

// State is what all views share.
type State struct {
	Wishes  chan memory.ID // memories to rekindle; RunRekindler receives them
	Offered Offered
}
