package op

import (
	"time"

	"emberd/memory"
)

// LifecycleRunRequest asks for a run of the lifecycle now.
type LifecycleRunRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
}

// LifecycleRunResult reports what a run of the lifecycle did, or would do.
type LifecycleRunResult struct {
	At       time.Time        `json:"at"`
	DryRun   bool             `json:"dry_run,omitempty"`
	Memories int              `json:"memories"` // that were looked at
	Moves    []LifecycleMoves `json:"moves"`    // by kind, those that there are
	Waiting  int              `json:"waiting"`  // that are due and left to later runs
	Skipped  []Skipped        `json:"skipped,omitempty"`
	Why      string           `json:"why,omitempty"` // nothing, or not everything, was done
	Tx       string           `json:"tx,omitempty"`
	Undone   bool             `json:"undone,omitempty"` // the change Tx, since the run
	Millis   int64            `json:"ms"`
}

// LifecycleMoves are the memories that met the same fate. IDs are the first 100.
type LifecycleMoves struct {
	Kind  string      `json:"kind"` // promote, wake, demote, archive or fade
	Count int         `json:"count"`
	IDs   []memory.ID `json:"ids,omitempty"`
}

// The kinds of moves, in the order of a run.
const (
	MovePromote = "promote" // gets a note
	MoveWake    = "wake"    // was used, and is active again
	MoveDemote  = "demote"  // was not for a while
	MoveArchive = "archive" // its text goes to the vault
	MoveFade    = "fade"    // was not for longer: it is rehydratable
)

// MoveText returns what a kind of move did to a memory, as people read it.
func MoveText(kind string) string {
	return map[string]string{MovePromote: "promoted", MoveWake: "reactivated", MoveDemote: "demoted",
		MoveArchive: "archived", MoveFade: "rehydratable"}[kind]
}

// MostShown is how many ids, and how many of what was skipped, an answer lists.
const MostShown = 100

// LifecycleStatusRequest has no fields.
type LifecycleStatusRequest struct{}

// LifecycleStatusResult reports how the lifecycle is.
type LifecycleStatusResult struct {
	Keeper string `json:"keeper"` // the device that does it
	Here   bool   `json:"here"`   // which is this one
	// Why reports why nothing, or not all that is due, moves by itself, "" when it does.
	Why      string         `json:"why,omitempty"`
	Memories int            `json:"memories"`
	Stages   []StageStatus  `json:"stages"` // warmest first
	Due      map[string]int `json:"due"`    // by kind of move, all that is due now
	Next     *NextMove      `json:"next,omitempty"`
	// Kept are texts that no note can keep to the byte: they are demoted and not
	// archived.
	Kept    int                 `json:"kept"`
	KeptIDs []Skipped           `json:"kept_ids,omitempty"` // the first 100, and why
	Last    *LifecycleRunResult `json:"last,omitempty"`     // since the start, dry runs apart
	Jobs    []Job               `json:"jobs"`
}

// StageStatus counts the memories of a stage and says after how many seconds without
// use a memory comes there, unless its category has ages of its own; 0 for active.
type StageStatus struct {
	Stage      memory.Stage `json:"stage"`
	Count      int          `json:"count"`
	After      int64        `json:"after_seconds,omitempty"`
	Multiplier float64      `json:"score_multiplier,omitempty"` // see [memory.Stage.ScoreMultiplier]
}

// NextMove is what will be due first.
type NextMove struct {
	ID memory.ID    `json:"id"`
	To memory.Stage `json:"to"`
	At time.Time    `json:"at"`
}

// Job is work that is done by itself.
type Job struct {
	Name    string    `json:"name"`
	Last    time.Time `json:"last,omitzero"`     // since the start, of agents at all
	Next    time.Time `json:"next,omitzero"`     // not before something changes
	Waiting int       `json:"waiting,omitempty"` // changes that the rate left for later
	Problem string    `json:"problem,omitempty"`
	Note    string    `json:"note,omitempty"`
}
