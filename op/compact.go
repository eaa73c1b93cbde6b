package op

import "time"

// CompactRequest asks to fold the log's sealed files.
type CompactRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// CompactResult reports what a compaction did, or would. Inputs is empty when
// there was nothing to gain.
type CompactResult struct {
	DryRun bool `json:"dry_run,omitempty"`
	// Due reports whether it was worth doing automatically, Reason why or why not. The daemon
	// goes by an estimate of what no longer counts, these by what was counted.
	Due          bool     `json:"due"`
	Reason       string   `json:"reason"`
	Inputs       []string `json:"inputs"`
	Output       string   `json:"output,omitempty"`
	History      string   `json:"history,omitempty"` // file of what was superseded
	Before       int64    `json:"bytes_before"`
	After        int64    `json:"bytes_after"`
	HistoryBytes int64    `json:"bytes_history"`
	Lines        int      `json:"lines"`      // operations in the inputs
	Live         int      `json:"live"`       // memories that the inputs make
	Tombstones   int      `json:"tombstones"` // deletions that stay remembered
	Dropped      int      `json:"dropped"`    // deletions that all devices know
	Superseded   int      `json:"superseded"` // operations that no longer count
	Expired      int      `json:"expired"`    // of what was superseded, too old for the history
	// Removed are files of earlier compactions that went: what they replaced, and
	// histories that are too old.
	Removed []string `json:"removed,omitempty"`
	Millis  int64    `json:"took_ms"`
}

// Compaction tells in status what the last one of this run did.
type Compaction struct {
	At      time.Time `json:"at"`
	Output  string    `json:"output"`
	Before  int64     `json:"bytes_before"`
	After   int64     `json:"bytes_after"`
	Pending bool      `json:"pending,omitempty"` // the inputs are still there
}
