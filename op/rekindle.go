package op

import (
	"time"

	"emberd/memory"
)

// ArchiveRequest names one memory whose text is to go to the vault, or several ids
// joined by commas.
type ArchiveRequest struct {
	ID     string `json:"-" path:"id" doc:"ID of a memory, or up to 100 IDs separated by commas; emberd returns a result for each ID"`
	DryRun bool   `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// ArchiveResult reports what became of each memory. In a dry run Archived is how the
// memories would be.
type ArchiveResult struct {
	Archived []Memory  `json:"archived"`
	Skipped  []Skipped `json:"skipped,omitempty"`
	Tx       string    `json:"tx,omitempty"`
	DryRun   bool      `json:"dry_run,omitempty"`
}

// Skipped is a memory that stays as it is, and why.
type Skipped struct {
	ID     memory.ID `json:"id"`
	Reason string    `json:"reason"`
}

// RekindleRequest names one cold memory, or asks for words that some are about.
type RekindleRequest struct {
	Query  string `json:"q" doc:"ID of the archived memory to restore, or words to search for in archived memories; up to 4 KiB"`
	DryRun bool   `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// RekindleAnswer reports what became of the text of each memory that was asked for. For
// words that mean none strongly enough it lists the nearest cold memories instead.
type RekindleAnswer struct {
	Results []RekindleResult `json:"results"`
	Nearest []Memory         `json:"nearest,omitempty"`
	Hint    string           `json:"hint,omitempty"`
	DryRun  bool             `json:"dry_run,omitempty"`
}

// RekindleResult is what became of the text of one memory. Verdict is "unchanged",
// "edited", "moved" or "gone", and "" if the memory was not cold.
type RekindleResult struct {
	Memory  Memory `json:"memory"`            // active, unless its text is gone
	Verdict string `json:"verdict,omitempty"` // what became of its note
	Path    string `json:"path,omitempty"`    // of the note that has the text
	Edited  bool   `json:"edited,omitempty"`  // the note has another text than was archived
	Tx      string `json:"tx,omitempty"`
	// Near are the notes nearest to the summary of a text that is gone, at most three.
	Near []Note `json:"near,omitempty"`
	// Until is how long the log has the text, of which Hint reports how it comes back.
	Until time.Time `json:"until,omitzero"`
	Hint  string    `json:"hint,omitempty"`
}
