package op

import "emberd/memory"

// PurgeRequest names one memory that is to be removed for good.
type PurgeRequest struct {
	ID      string `json:"-" path:"id" doc:"ID of a memory; the memory can be in the trash"`
	DryRun  bool   `json:"-" query:"dry_run" doc:"show what would change, without changing anything"`
	Backups bool   `json:"-" query:"backups" doc:"also delete backups that a user made and that contain the memory; emberd always deletes automatic backups that contain the memory"`
}

// PurgeResult reports what was removed, or would be.
type PurgeResult struct {
	ID memory.ID `json:"id"`
	// Tx is the journal entry, which cannot be undone. It is empty when the memory
	// was purged before and only its files were looked through again.
	Tx         string   `json:"tx,omitempty"`
	DryRun     bool     `json:"dry_run,omitempty"`
	Rewritten  []string `json:"rewritten"`            // log files that held the memory
	Quarantine int      `json:"quarantine,omitempty"` // copies of damaged lines
	Backups    []string `json:"backups,omitempty"`    // backups that were removed, automatic ones unasked
	Messages   int      `json:"messages,omitempty"`   // messages of past sessions that were removed
	// Left are the places that were not reached, or may hold a copy.
	Left []PurgeLeft `json:"left"`
}

// PurgeLeft is a place that a purge does not reach.
type PurgeLeft struct {
	Kind   string `json:"kind" doc:"kind of place that can still contain the text: device, damaged, backup, git, versions, note, memory, elsewhere or unfinished"`
	Place  string `json:"place"`
	Advice string `json:"advice"`
}
