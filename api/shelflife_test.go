package api

import (
	"context"
	"time"

	"emberd/memory"
	"emberd/op"
)

// Nothing fades on the shelf, and nothing is ever used.
func (s *shelf) addLifeVerbs(add func(*op.Spec, op.Handler)) {
	add(op.PromoteAuto.Handle(s.promoteAuto))
	add(op.Touch.Handle(s.touch))
	add(op.Observe.Handle(s.observe))
	add(op.AnalyzeMessage.Handle(s.analyzeMessage))
	add(op.AnalyzeRecall.Handle(s.analyzeRecall))
	add(op.GC.Handle(s.gc))
	add(op.Clusters.Handle(s.clusters))
	add(op.Consolidate.Handle(s.consolidate))
	add(op.LifecycleRun.Handle(s.lifecycleRun))
	add(op.LifecycleStatus.Handle(s.lifecycleStatus))
}

func (s *shelf) promoteAuto(_ context.Context, req *op.PromoteAutoRequest) (*op.PromoteAutoResult, error) {
	return &op.PromoteAutoResult{DryRun: req.DryRun, Message: "nothing deserves a note"}, nil
}

func (s *shelf) touch(_ context.Context, req *op.TouchRequest) (*op.TouchResult, error) {
	return &op.TouchResult{MemoryID: memory.ID(req.ID), OldScore: 0.5, NewScore: 1, UseCount: 1, Strength: 1}, nil
}

func (s *shelf) observe(_ context.Context, req *op.ObserveRequest) (*op.ObserveResult, error) {
	res := &op.ObserveResult{Reason: "nothing is used here"}
	for _, id := range req.IDs {
		res.Results = append(res.Results, op.Observed{ID: id, Status: op.ObservedNotFound})
	}
	return res, nil
}

func (s *shelf) analyzeMessage(_ context.Context, req *op.AnalyzeMessageRequest) (*op.AnalyzeMessageResult, error) {
	return &op.AnalyzeMessageResult{SuggestedStrength: 1, Reasoning: req.Message}, nil
}

func (s *shelf) analyzeRecall(_ context.Context, req *op.AnalyzeRecallRequest) (*op.AnalyzeRecallResult, error) {
	return &op.AnalyzeRecallResult{SuggestedQuery: req.Message}, nil
}

func (s *shelf) gc(_ context.Context, req *op.GCRequest) (*op.GCResult, error) {
	return &op.GCResult{DryRun: req.DryRun == nil || *req.DryRun, MemoryIDs: []memory.ID{}, Threshold: 0.05}, nil
}

func (s *shelf) lifecycleRun(_ context.Context, req *op.LifecycleRunRequest) (*op.LifecycleRunResult, error) {
	return &op.LifecycleRunResult{At: time.UnixMilli(0).UTC(), DryRun: req.DryRun, Moves: []op.LifecycleMoves{}, Skipped: []op.Skipped{{Reason: "it was used meanwhile"}}}, nil
}

func (s *shelf) lifecycleStatus(context.Context, *op.LifecycleStatusRequest) (*op.LifecycleStatusResult, error) {
	return &op.LifecycleStatusResult{Here: true, Stages: []op.StageStatus{{Stage: memory.Active}}, Due: map[string]int{}, Jobs: []op.Job{{Name: "fading"}}}, nil
}

func (s *shelf) clusters(context.Context, *op.ClustersRequest) (*op.ClustersResult, error) {
	return &op.ClustersResult{Mode: op.ModeClustering, Message: "Found 0 clusters"}, nil
}

func (s *shelf) consolidate(_ context.Context, req *op.ConsolidateRequest) (*op.ConsolidateResult, error) {
	return &op.ConsolidateResult{Mode: req.Mode, AutoDetect: req.AutoDetect, Message: "Found 0 clusters to consolidate"}, nil
}
