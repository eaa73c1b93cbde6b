package api

import (
	"context"
	"time"

	"emberd/memory"
	"emberd/op"
)

// Nobody looks after what is on the shelf.
func (s *shelf) addCareVerbs(add func(*op.Spec, op.Handler)) {
	add(op.AgentsRun.Handle(func(_ context.Context, req *op.AgentsRunRequest) (*op.AgentsRunResult, error) {
		return &op.AgentsRunResult{At: time.UnixMilli(0).UTC(), DryRun: req.DryRun, Ran: []op.AgentRan{{Agent: op.AgentDecay}}}, nil
	}))
	s.addReviewVerbs(add)
	s.addHealthVerbs(add)
	s.addCleanupVerbs(add)
}

func (s *shelf) addReviewVerbs(add func(*op.Spec, op.Handler)) {
	item := func(id string) memory.ReviewItem {
		return memory.ReviewItem{ID: id, Agent: op.AgentDecay, Action: "reinforce", Urgency: "low", MemoryIDs: []memory.ID{}, Status: memory.ItemOpen}
	}
	add(op.ReviewList.Handle(func(context.Context, *op.ReviewListRequest) (*op.ReviewListResult, error) {
		return &op.ReviewListResult{Items: []memory.ReviewItem{item("rev-1")}, Total: 1}, nil
	}))
	add(op.ReviewShow.Handle(func(_ context.Context, req *op.ReviewShowRequest) (*op.ReviewShowResult, error) {
		return &op.ReviewShowResult{Item: item(req.ID), Memories: []op.Memory{}, Choices: []string{op.DecideKeep}}, nil
	}))
	add(op.ReviewClaim.Handle(func(_ context.Context, req *op.ReviewClaimRequest) (*op.ReviewChangeResult, error) {
		return &op.ReviewChangeResult{Item: item(req.ID)}, nil
	}))
	add(op.ReviewClose.Handle(func(_ context.Context, req *op.ReviewCloseRequest) (*op.ReviewChangeResult, error) {
		return &op.ReviewChangeResult{Item: item(req.ID), Tx: "tx"}, nil
	}))
	add(op.ReviewCreate.Handle(func(context.Context, *op.ReviewCreateRequest) (*op.ReviewChangeResult, error) {
		return &op.ReviewChangeResult{Item: item("rev-2"), Made: true}, nil
	}))
}

func (s *shelf) addHealthVerbs(add func(*op.Spec, op.Handler)) {
	add(op.Health.Handle(func(context.Context, *op.HealthRequest) (*op.HealthResult, error) {
		return &op.HealthResult{At: time.UnixMilli(0).UTC(), Stages: []op.StageStatus{}, Scores: []op.HealthBand{{Name: "low"}}, Ages: []op.HealthBand{}, Next: []string{}}, nil
	}))
	add(op.HealthStale.Handle(func(context.Context, *op.HealthStaleRequest) (*op.HealthStaleResult, error) {
		return &op.HealthStaleResult{StaleMemories: []op.UnusedMemory{{LastAccessed: "never"}}, DaysThreshold: 30}, nil
	}))
	add(op.HealthLowAccess.Handle(func(context.Context, *op.HealthLowAccessRequest) (*op.HealthLowAccessResult, error) {
		return &op.HealthLowAccessResult{LowAccessMemories: []op.LowAccessMemory{{Category: "unknown"}}}, nil
	}))
	add(op.HealthDuplicates.Handle(func(context.Context, *op.HealthDuplicatesRequest) (*op.HealthDuplicatesResult, error) {
		return &op.HealthDuplicatesResult{DuplicatePairs: []op.DuplicatePair{{Similarity: 1}}, Threshold: 0.95}, nil
	}))
	add(op.HealthMerge.Handle(func(_ context.Context, req *op.HealthMergeRequest) (*op.HealthMergeResult, error) {
		return &op.HealthMergeResult{KeptID: memory.ID(req.ID1), DiscardedID: memory.ID(req.ID2), RelatedMemories: []memory.ID{}}, nil
	}))
	add(op.Migrate.Handle(func(_ context.Context, req *op.MigrateRequest) (*op.MigrateResult, error) {
		return &op.MigrateResult{Collection: req.Collection}, nil
	}))
}

func (s *shelf) addCleanupVerbs(add func(*op.Spec, op.Handler)) {
	run := op.CleanupRun{ID: "run", State: op.CleanupDryRun, Counts: map[string]int{}, Actions: []op.CleanupAction{}}
	add(op.Cleanup.Handle(func(context.Context, *op.CleanupRequest) (*op.CleanupRun, error) { return &run, nil }))
	add(op.CleanupReport.Handle(func(context.Context, *op.CleanupReportRequest) (*op.CleanupReportResult, error) {
		return &op.CleanupReportResult{Run: run, Markdown: "# Nothing to clean up"}, nil
	}))
	add(op.CleanupRollback.Handle(func(context.Context, *op.CleanupRollbackRequest) (*op.CleanupRollbackResult, error) {
		return &op.CleanupRollbackResult{Run: run, Undo: op.UndoResult{Items: []op.UndoItem{}}}, nil
	}))
	add(op.CleanupHistory.Handle(func(context.Context, *op.CleanupHistoryRequest) (*op.CleanupHistoryResult, error) {
		return &op.CleanupHistoryResult{Runs: []op.CleanupRun{run}}, nil
	}))
}
