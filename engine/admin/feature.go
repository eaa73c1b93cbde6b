// Package admin reports on the daemon itself and manages it: status, statistics, metrics, audit,
// access tokens and devices.
//
// Guarantee: its reports contain counts and IDs, never the text of a memory. A caller with
// permissions sees only the counts of the memories and notes in its scopes.
package admin

import (
	"emberd/engine/agents"
	"emberd/engine/cleanup"
	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/listnotes"
	"emberd/engine/notelinks"
	"emberd/engine/notes"
	"emberd/engine/notesync"
	"emberd/engine/notewrite"
	"emberd/engine/promote"
	"emberd/engine/purge"
	"emberd/engine/review"
	"emberd/engine/semantic"
	"emberd/engine/storage"
	"emberd/engine/textmerge"
)

// Admin has the operations of this package for callers with the same permissions.
type Admin struct {
	*core.View
	*State

	Agents    *agents.Agents
	Cleanup   *cleanup.Cleanup
	Lifecycle *lifecycle.Lifecycle
	Links     *notelinks.Links
	Lists     *listnotes.Lists
	Notes     *notes.Notes
	NoteWrite *notewrite.NoteWrite
	Sync      *notesync.Sync
	Promote   *promote.Promote
	Purge     *purge.Purge
	Review    *review.Review
	Semantic  *semantic.Semantic
	Storage   *storage.Storage
	Texts     *textmerge.TextMerge

	counted  LastCount
	averaged LastAverage
}

// State is what all views share.
type State struct {
	NewFiles chan struct{} // room for one token: a file of another device changed

	foreign ForeignSecrets
}
