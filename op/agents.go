package op

import (
	"time"

	"emberd/memory"
)

// The agents, in the order of the pipeline.
const (
	AgentDecay     = "decay"
	AgentCluster   = "cluster"
	AgentMerge     = "merge"
	AgentPromote   = "promote"
	AgentRelations = "relations"
)

// Agents lists them. It returns a fresh slice.
func Agents() []string {
	return []string{AgentDecay, AgentCluster, AgentMerge, AgentPromote, AgentRelations}
}

// AgentsRunRequest asks for a run of the pipeline, or of one agent.
type AgentsRunRequest struct {
	Agent     string `json:"agent,omitempty" doc:"maintenance agent to run: decay, cluster, merge, promote or relations; default: all maintenance agents, in this order"`
	DryRun    bool   `json:"dry_run,omitempty" doc:"show what would change, without changing anything"`
	Scheduled bool   `json:"scheduled,omitempty" doc:"true: run the agents only if interval_seconds have passed since the last run"`
	Force     bool   `json:"force,omitempty" doc:"if scheduled is true: run the agents even before interval_seconds have passed"`
	// IntervalSeconds is the interval for scheduled, 0 for that of the settings.
	IntervalSeconds int64 `json:"interval_seconds,omitempty" doc:"if scheduled is true: seconds between two runs, 60 to 2592000; default: the setting consolidation.interval"`
}

// AgentsRunResult has what each agent that ran found or did, at most 100 each, under the
// names of the specification "CortexGraph API".
type AgentsRunResult struct {
	At        time.Time         `json:"at"`
	DryRun    bool              `json:"dry_run,omitempty"`
	Skipped   string            `json:"skipped,omitempty"` // why a scheduled run did nothing
	NextRun   time.Time         `json:"next_run,omitzero"`
	Ran       []AgentRan        `json:"ran"`
	Decay     []DecayResult     `json:"decay,omitzero"`
	Cluster   []ClusterResult   `json:"cluster,omitzero"`
	Merge     []MergeResult     `json:"merge,omitzero"`
	Promote   []PromotionResult `json:"promote,omitzero"`
	Relations []RelationResult  `json:"relations,omitzero"`
	Tx        string            `json:"tx,omitempty"` // one entry for all that was changed
	Millis    int64             `json:"ms"`
}

// AgentRan counts what one agent did.
type AgentRan struct {
	Agent   string `json:"agent"`
	Found   int    `json:"found"`
	Filed   int    `json:"filed,omitempty"`   // review items, or would
	Changed int    `json:"changed,omitempty"` // memories or relations, or would
	Waiting int    `json:"waiting,omitempty"` // beyond the rate of this minute
	Problem string `json:"problem,omitempty"`
	Failed  bool   `json:"failed,omitempty"` // it was broken off by the problem
	Millis  int64  `json:"ms"`
}

// DecayResult is a memory at risk.
type DecayResult struct {
	MemoryID memory.ID `json:"memory_id"`
	Score    float64   `json:"score"`
	Urgency  string    `json:"urgency"` // high, medium or low
	Action   string    `json:"action"`  // reinforce, gc_candidate or needs_review
}

// ClusterResult is a group of similar memories.
type ClusterResult struct {
	ClusterID string      `json:"cluster_id"`
	MemoryIDs []memory.ID `json:"memory_ids"`
	Cohesion  float64     `json:"cohesion"`
	Action    string      `json:"action"` // auto-merge, llm-review, keep-separate or contradiction
}

// MergeResult is a merge.
type MergeResult struct {
	NewMemoryID memory.ID   `json:"new_memory_id"`
	SourceIDs   []memory.ID `json:"source_ids"`
	RelationIDs []string    `json:"relation_ids"`
	Success     bool        `json:"success"`
	Reason      string      `json:"reason,omitempty"` // why not
}

// PromotionResult is a memory that got a note.
type PromotionResult struct {
	MemoryID    memory.ID `json:"memory_id"`
	VaultPath   string    `json:"vault_path"`
	CriteriaMet []string  `json:"criteria_met"`
}

// RelationResult is a relation of two memories that share what few others have.
type RelationResult struct {
	FromID         memory.ID `json:"from_id"`
	ToID           memory.ID `json:"to_id"`
	RelationType   string    `json:"relation_type"` // always related
	Strength       float64   `json:"strength"`      // by the rarity of what is shared and by similarity
	Confidence     float64   `json:"confidence"`
	Jaccard        float64   `json:"jaccard"` // CortexGraph's strength, by the share of entities and tags
	SharedEntities []string  `json:"shared_entities"`
	Reasoning      string    `json:"reasoning"`
}
