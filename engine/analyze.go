package engine

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// analyzeMessage judges whether a message is worth keeping.
func (e *Engine) analyzeMessage(_ context.Context, req *op.AnalyzeMessageRequest) (*op.AnalyzeMessageResult, error) {
	if err := memory.CheckText("message", req.Message, memory.MaxContent); err != nil {
		return nil, err
	}
	about := e.entitiesIn(req.Message)
	v := e.opt.Phrases.Save(req.Message, about)
	return &op.AnalyzeMessageResult{ShouldSave: v.ShouldSave, Confidence: v.Confidence, SuggestedEntities: about,
		SuggestedTags: v.Tags, SuggestedStrength: v.Strength, Reasoning: v.Reasoning}, nil
}

// analyzeRecall judges whether a message asks for something kept.
func (e *Engine) analyzeRecall(_ context.Context, req *op.AnalyzeRecallRequest) (*op.AnalyzeRecallResult, error) {
	if err := memory.CheckText("message", req.Message, memory.MaxContent); err != nil {
		return nil, err
	}
	about := e.entitiesIn(req.Message)
	v := e.opt.Phrases.Recall(req.Message, about)
	return &op.AnalyzeRecallResult{ShouldSearch: v.ShouldSearch, Confidence: v.Confidence, SuggestedQuery: v.Query,
		SuggestedTags: v.Tags, SuggestedEntities: about, Reasoning: v.Reasoning}, nil
}
