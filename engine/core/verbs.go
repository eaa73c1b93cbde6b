package core

import (
	"slices"

	"emberd/memory"
)

const PromoteVerb = "promote"

const (
	GcVerb = "gc"
)

// RepairVerb is the journal verb for the repair of a memory that two devices changed at once:
// its stage came from one device and its text from the other.
const RepairVerb = "mend"

// Journal verbs of memories that keep their text.
const (
	DemoteVerb = "demote"
	WakeVerb   = "wake"
)

// Journal verbs of archiving and rekindling.
const (
	ArchiveVerb  = "archive"
	FadeVerb     = "fade"
	RekindleVerb = "rekindle"
)

// ConsolidateVerb is the journal verb of a merge, LinkVerb of relations between the members of
// a cluster.
const (
	ConsolidateVerb = "consolidate"
	LinkVerb        = "link"
)

// Sentences by which agents recognize the status of a claim.
const (
	SayConfirmed = "This is already known"
	SayRelated   = "Related information exists"
	SayNew       = "No existing knowledge about this"
	SayConflict  = "Potential conflict — review recommended"
)

const (
	// ContradictionAction is the action of a review item about two contradicting memories.
	ContradictionAction = "contradiction"
)

// HoldsAll reports whether all contains every ID of some.
func HoldsAll(all, some []memory.ID) bool {
	return !slices.ContainsFunc(some, func(id memory.ID) bool { return !slices.Contains(all, id) })
}

// NotKept is why a memory is at most demoted and never archived.
const NotKept = "a note cannot store the text exactly, because it contains control characters, line endings other " +
	"than LF, or plugin code"
