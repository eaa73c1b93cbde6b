package learn

import (
	"context"

	"emberd/memory"
	"emberd/op"
)

// AnalyzeMessage reports whether a message is worth saving.
func (e *Learn) AnalyzeMessage(_ context.Context, req *op.AnalyzeMessageRequest) (*op.AnalyzeMessageResult, error) {
	if err := memory.CheckText("message", req.Message, memory.MaxContent); err != nil {
		return nil, err
	}
	about := e.Graph.EntitiesIn(req.Message)
	v := e.Opt.Phrases.Save(req.Message, about)
	return &op.AnalyzeMessageResult{ShouldSave: v.ShouldSave, Confidence: v.Confidence, SuggestedEntities: about,
		SuggestedTags: v.Tags, SuggestedStrength: v.Strength, Reasoning: v.Reasoning}, nil
}

// AnalyzeRecall reports whether a message asks for a stored memory.
func (e *Learn) AnalyzeRecall(_ context.Context, req *op.AnalyzeRecallRequest) (*op.AnalyzeRecallResult, error) {
	if err := memory.CheckText("message", req.Message, memory.MaxContent); err != nil {
		return nil, err
	}
	about := e.Graph.EntitiesIn(req.Message)
	v := e.Opt.Phrases.Recall(req.Message, about)
	return &op.AnalyzeRecallResult{ShouldSearch: v.ShouldSearch, Confidence: v.Confidence, SuggestedQuery: v.Query,
		SuggestedTags: v.Tags, SuggestedEntities: about, Reasoning: v.Reasoning}, nil
}
