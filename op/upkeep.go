package op

import (
	"emberd/memory"
)

// GCRequest asks to collect what is hardly worth keeping.
type GCRequest struct {
	DryRun         *bool `json:"dry_run,omitempty" doc:"show what would change, without changing anything; default true"`
	ArchiveInstead bool  `json:"archive_instead,omitempty" doc:"true: archive the memories instead of deleting them"`
	Limit          int   `json:"limit,omitempty" doc:"maximum number of memories to delete or archive, 1 to 10,000, or 0 for all; emberd starts with the lowest decay scores"`
}

// GCResult reports what was collected, or would be: memories with a decay score below
// the threshold that are neither core nor promoted. What was removed is in the trash.
type GCResult struct {
	DryRun        bool        `json:"dry_run"`
	RemovedCount  int         `json:"removed_count"`
	ArchivedCount int         `json:"archived_count"`
	FreedScoreSum float64     `json:"freed_score_sum"`
	MemoryIDs     []memory.ID `json:"memory_ids"` // all of them, lowest score first
	TotalAffected int         `json:"total_affected"`
	Threshold     float64     `json:"threshold"`
	Skipped       []Skipped   `json:"skipped,omitempty"`
	Message       string      `json:"message"`
	Tx            string      `json:"tx,omitempty"`
}

// TouchRequest reinforces a memory.
type TouchRequest struct {
	ID    string `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
	Boost bool   `json:"boost_strength,omitempty" doc:"true: raise the strength of the memory by 0.1, up to 2"`
}

// TouchResult reports what the use of a memory did to it.
type TouchResult struct {
	MemoryID memory.ID     `json:"memory_id"`
	OldScore float64       `json:"old_score"`
	NewScore float64       `json:"new_score"`
	UseCount int64         `json:"use_count"`
	Strength float64       `json:"strength"`
	Message  string        `json:"message"`
	Held     string        `json:"held,omitempty"`    // why the strength did not rise, if it was to
	Tx       string        `json:"tx,omitempty"`      // of the new strength
	Pending  *PendingWrite `json:"pending,omitempty"` // of it to the note
}
