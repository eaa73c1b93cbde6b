// Package textmerge joins the texts that two devices wrote for one memory without knowing of each other.
//
// Guarantee: what both sides changed in different parts is in one text, which every device works out to the
// same bytes; of what they changed in the same part one text is shown, the other is in a review item, and
// searches find both. A write of this package names the texts that it was made of, so that no device joins them
// again.
package textmerge

import (
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/memories"
	"emberd/engine/review"
	"emberd/memory"
)

// TextMerge has the operations of this package for callers with the same permissions.
type TextMerge struct {
	*core.View
	*State

	Lifecycle *lifecycle.Lifecycle
	Memories  *memories.Memories
	Review    *review.Review
}

// State is what all views share.
type State struct {
	wake chan struct{} // room for one token: something may have arrived

	// mu guards waiting, which has the memories to look at and when. It is held while the file is
	// written, and not while the log is read or changed.
	mu      sync.Mutex
	waiting map[memory.ID]time.Time
}
