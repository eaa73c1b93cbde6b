package op

import (
	"time"

	"emberd/memory"
)

// The modes of a CleanupRequest.
const (
	CleanupAnalysis = "analysis"
	CleanupFull     = "full"
)

// CleanupRequest asks for a cleanup of a collection, see the specification "memory cleanup".
type CleanupRequest struct {
	Collection string `json:"collection,omitempty" doc:"collection to clean up, or all for every collection; required without resume"`
	Mode       string `json:"mode,omitempty" doc:"mode of the cleanup run: analysis (default) only reports duplicates and contradictions; full also plans changes"`
	Execute    bool   `json:"execute,omitempty" doc:"apply the planned changes; requires the mode full"`
	// Incremental looks only at what changed since the last run, and what is like it.
	Incremental bool `json:"incremental,omitempty" doc:"check only memories that changed after the last cleanup run, and memories that are similar to changed memories"`
	// Resume continues with a run that was broken off; nothing else is given then.
	Resume string `json:"resume,omitempty" doc:"ID of the interrupted cleanup run to resume"`
}

// The states of a cleanup run.
const (
	CleanupDryRun     = "dry_run"
	CleanupRunning    = "running"
	CleanupDone       = "done"
	CleanupRolledBack = "rolled_back"
	CleanupBrokenOff  = "broken_off"
)

// The actions of a cleanup.
const (
	CleanupDelete    = "delete"
	CleanupMerge     = "merge"
	CleanupUpdate    = "update"
	CleanupPreserve  = "preserve"
	CleanupHierarchy = "hierarchy" // versions or platforms under a parent
	CleanupReview    = "review"    // a human decides
)

// CleanupAction is one step of a plan, with its evidence.
type CleanupAction struct {
	Action    string      `json:"action"`
	MemoryIDs []memory.ID `json:"memory_ids"`
	Keep      memory.ID   `json:"keep,omitempty"`     // the one that stays, or the parent
	Into      memory.ID   `json:"into,omitempty"`     // the one that was made
	Strategy  string      `json:"strategy,omitempty"` // version, platform, quality or merge
	Quality   float64     `json:"quality,omitempty"`
	Evidence  string      `json:"evidence"`
	Done      bool        `json:"done,omitempty"`
	Problem   string      `json:"problem,omitempty"` // why it was not done
}

// CleanupAccuracy is how well the query set finds what it is to find.
type CleanupAccuracy struct {
	Queries   int     `json:"queries"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	// Missing are critical memories that cannot be found.
	Missing []memory.ID `json:"missing,omitempty"`
}

// CleanupRun is a run, as it is reported and kept.
type CleanupRun struct {
	ID         string    `json:"id"`
	Collection string    `json:"collection"`
	Mode       string    `json:"mode"`
	State      string    `json:"state"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended,omitzero"`

	Entries   int `json:"entries"`   // of the collection
	Manual    int `json:"manual"`    // of them
	Protected int `json:"protected"` // entries with automation fields
	Clusters  int `json:"clusters"`
	Conflicts int `json:"conflicts"` // groups that contradict each other
	Resolved  int `json:"resolved"`  // of these without a human
	After     int `json:"after"`     // entries that are left, or would be

	Counts  map[string]int  `json:"counts"`            // of actions, by kind
	Actions []CleanupAction `json:"actions"`           // at most 1,000; the report has all
	Limited int             `json:"limited,omitempty"` // deletions left to later runs by the cap

	Scorer      string           `json:"scorer"` // heuristic, or that with llm
	ScorerCalls int              `json:"scorer_calls,omitempty"`
	ScorerNote  string           `json:"scorer_note,omitempty"` // what became of them
	Before      *CleanupAccuracy `json:"before,omitempty"`
	Validated   *CleanupAccuracy `json:"validated,omitempty"`
	RolledBack  string           `json:"rolled_back,omitempty"` // why
	Problem     string           `json:"problem,omitempty"`     // why it was broken off
	Backup      string           `json:"backup,omitempty"`      // file
	Report      string           `json:"report,omitempty"`      // note or file
	Tx          string           `json:"tx,omitempty"`
	Millis      int64            `json:"ms"`
}

// CleanupReportRequest names a run, by default the latest.
type CleanupReportRequest struct {
	Run string `json:"run,omitempty" query:"run" doc:"ID of the cleanup run, default: the latest run"`
}

// CleanupReportResult is a run with its report in Markdown.
type CleanupReportResult struct {
	Run      CleanupRun `json:"run"`
	Markdown string     `json:"markdown"`
}

// CleanupRollbackRequest takes a run back.
type CleanupRollbackRequest struct {
	Run   string `json:"run,omitempty" doc:"ID of the cleanup run, default: the latest run that emberd has not rolled back"`
	Force bool   `json:"force,omitempty" doc:"also roll back memories that changed after the cleanup run; emberd never rolls back notes"`
}

// CleanupRollbackResult reports what became of it.
type CleanupRollbackResult struct {
	Run  CleanupRun `json:"run"`
	Undo UndoResult `json:"undo"`
}

// CleanupHistoryRequest asks for the runs.
type CleanupHistoryRequest struct {
	Limit int `json:"limit,omitempty" query:"limit" doc:"maximum number of runs, 1 to 1000, default 20"`
}

// CleanupHistoryResult lists runs, the latest first, without their actions.
type CleanupHistoryResult struct {
	Runs []CleanupRun `json:"runs"`
}
