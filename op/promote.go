package op

import "time"

// PromoteRequest names one memory that is to have a note in the vault.
type PromoteRequest struct {
	ID     string `json:"-" path:"id" doc:"the memory"`
	DryRun bool   `json:"dry_run,omitempty" doc:"tell what would happen, change nothing"`
}

// PromoteResult tells which note the memory has, or will have. Outcome is "written"
// for a new note, "adopted" for one that carried the memory's id before, "already"
// if nothing was to be done, and "pending" if the note cannot be written at the
// moment: emberd goes on trying.
type PromoteResult struct {
	Memory  Memory    `json:"memory"`
	Path    string    `json:"path"` // in the vault
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // why it is pending
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
)

// PendingWrite is a change of a note that could not be made yet.
type PendingWrite struct {
	Path   string    `json:"path"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Next   time.Time `json:"next"` // when it is tried again
}
