// Package purge deletes a memory permanently: from the log, and from every other file of this device.
//
// Guarantee: after a purge no file that this device can reach contains the text, and the result lists every
// place that it cannot reach. A purge by another device has the same effect here, except that backups stay
// until the user removes them, and status names them.
package purge

import (
	"emberd/engine/cleanup"
	"emberd/engine/core"
	"emberd/engine/health"
	"emberd/engine/listnotes"
	"emberd/engine/notelinks"
	"emberd/engine/notesync"
	"emberd/engine/notewrite"
	"emberd/engine/promote"
	"emberd/engine/semantic"
	"emberd/engine/transcripts"
)

// Purge has the operation of this package for callers with the same permissions.
type Purge struct {
	*core.View
	*State

	Cleanup   *cleanup.Cleanup
	Health    *health.Health
	Links     *notelinks.Links
	Lists     *listnotes.Lists
	NoteWrite *notewrite.NoteWrite
	Promote   *promote.Promote
	Semantic  *semantic.Semantic
	Sync      *notesync.Sync

	Transcripts *transcripts.Transcripts
}

// State is what all views share.
type State struct {
	held HeldBackups
}
