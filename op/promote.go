package op

import (
	"time"

	"emberd/memory"
)

// PromoteRequest names one memory that is to have a note in the vault.
type PromoteRequest struct {
	ID     string `json:"-" path:"id" doc:"ID of the memory, or at least the first or last four characters of the ID"`
	Force  bool   `json:"force,omitempty" doc:"true: promote the memory even if it does not meet the promotion criteria"`
	DryRun bool   `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	// Tx is the change that this promotion joins, so that one undo reverts the promotions of several memories.
	Tx string `json:"tx,omitempty" doc:"ID (tx) of the change that an earlier promotion made; emberd adds this promotion to the same change"`
}

// PromoteResult reports which note the memory has, or will have. Outcome is "written"
// for a new note, "adopted" for one that carried the memory's id before, "already"
// if nothing was to be done, "pending" if the note cannot be written at the moment:
// emberd continues trying, and "unmet" if the memory is not worth one by the criteria.
type PromoteResult struct {
	Memory  Memory    `json:"memory"`
	Path    string    `json:"path"` // in the vault
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // why it is pending or unmet
	Meets   string    `json:"meets,omitempty"`  // the criterion that it meets, as "High score (0.82 >= 0.65)"
	Until   time.Time `json:"until,omitzero"`   // not tried before
	Tx      string    `json:"tx,omitempty"`
	DryRun  bool      `json:"dry_run,omitempty"`
}

// The outcomes of a promotion.
const (
	PromotionWritten = "written"
	PromotionAdopted = "adopted"
	PromotionAlready = "already"
	PromotionPending = "pending"
	PromotionUnmet   = "unmet"
)

// PromoteAutoRequest asks for notes of all memories that deserve one.
type PromoteAutoRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	Force  bool `json:"force,omitempty" doc:"true: promote every memory with the required decay score, even if the memory is new or rarely used"`
}

// PromoteAutoResult reports which memories deserve a note by the rules, and which got
// one. Candidates are the first 100.
type PromoteAutoResult struct {
	DryRun          bool               `json:"dry_run"`
	CandidatesFound int                `json:"candidates_found"`
	PromotedCount   int                `json:"promoted_count"`
	PromotedIDs     []memory.ID        `json:"promoted_ids"`
	Candidates      []PromoteCandidate `json:"candidates"` // highest score first
	Skipped         []Skipped          `json:"skipped,omitempty"`
	Message         string             `json:"message"`
	Tx              string             `json:"tx,omitempty"`
}

// PromoteCandidate is a memory that deserves a note.
type PromoteCandidate struct {
	ID       memory.ID `json:"id"`
	Preview  string    `json:"content_preview"`
	Reason   string    `json:"reason"` // as "High score (0.82 >= 0.65)"
	Score    float64   `json:"score"`
	UseCount int64     `json:"use_count"`
	AgeDays  float64   `json:"age_days"`
}

// PendingWrite is a change of a note that could not be made yet.
type PendingWrite struct {
	Path   string    `json:"path"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Next   time.Time `json:"next"` // when it is tried again
}
