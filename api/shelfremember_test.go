package api

import (
	"context"
	"time"

	"emberd/memory"
	"emberd/op"
)

// The shelf compares nothing: everything is new to it.
func (s *shelf) addRememberVerbs(add func(*op.Spec, op.Handler)) {
	add(op.Add.Handle(s.learn))
	add(op.Query.Handle(s.query))
	add(op.Verify.Handle(s.verify))
	add(op.Reinforce.Handle(s.reinforce))
	add(op.EntityList.Handle(s.entityList))
	add(op.Knowledge.Handle(s.knowledge))
	add(op.EngineStatus.Handle(s.engineStatus))
	add(op.EnginePause.Handle(s.enginePause))
	add(op.EngineResume.Handle(s.engineResume))
	add(op.Embed.Handle(s.embed))
}

func (s *shelf) learn(ctx context.Context, req *op.AddRequest) (*op.AddResult, error) {
	saved, err := s.save(ctx, &op.SaveRequest{Content: req.Content, Tags: req.Tags})
	if err != nil {
		return nil, err
	}
	return &op.AddResult{Memory: saved.Memory, New: true, Compared: op.ComparedByWords, Message: "saved", Tx: saved.Tx}, nil
}

func (s *shelf) query(_ context.Context, req *op.QueryRequest) (*op.QueryResult, error) {
	return &op.QueryResult{Compared: op.ComparedByWords, Total: 1,
		Results: []op.QueryHit{{Scope: "knowledge", Relevance: 0.5, Entity: &op.Entity{Name: req.Query, Mentions: 1}}}}, nil
}

func (s *shelf) verify(_ context.Context, req *op.VerifyRequest) (*op.VerifyResult, error) {
	return &op.VerifyResult{Status: op.StatusRelated, Matches: []op.Match{{Text: req.Claim, Similarity: 0.7, Verdict: op.VerdictRelated}},
		Compared: op.ComparedByWords}, nil
}

func (s *shelf) reinforce(context.Context, *op.ReinforceRequest) (*op.ReinforceResult, error) {
	return &op.ReinforceResult{Compared: op.ComparedByWords, Message: "No matching memory found to reinforce."}, nil
}

func (s *shelf) entityList(_ context.Context, req *op.EntityListRequest) (*op.EntityListResult, error) {
	return &op.EntityListResult{Entities: []op.Entity{{Name: "Ada", Mentions: 2, LastSeen: time.UnixMilli(0).UTC()}}, Total: 1}, nil
}

func (s *shelf) knowledge(_ context.Context, req *op.KnowledgeRequest) (*op.KnowledgeResult, error) {
	return &op.KnowledgeResult{Nodes: []op.KnowledgeNode{{ID: "entity:Ada", Kind: "entity", Label: req.Of}},
		Edges: []op.KnowledgeEdge{{From: "entity:Ada", To: "entity:Ada", Type: memory.Related, Weight: 1}}}, nil
}

func (s *shelf) engineStatus(context.Context, *op.EngineStatusRequest) (*op.EngineStatusResult, error) {
	return &op.EngineStatusResult{State: op.EngineComplete, Meaning: &op.Meaning{Provider: "go", Model: "tiny", Covered: 2, Total: 2, Weight: 1},
		Model: &op.EngineModel{Provider: "go", Name: "tiny", Dim: 32, Trust: 1}, Passed: []op.PassedProvider{{Provider: "http", Reason: "no server"}},
		Again: time.UnixMilli(0).UTC(), Folder: "/vectors", Vectors: 2,
		Native: &op.NativeEngine{Helper: "/bin/emberd-llama", Folder: "/engine", Started: time.UnixMilli(0).UTC(), Bad: []op.BadPair{{Why: "it ended"}}}}, nil
}

func (s *shelf) enginePause(ctx context.Context, _ *op.EnginePauseRequest) (*op.EngineStatusResult, error) {
	return s.engineStatus(ctx, nil)
}

func (s *shelf) engineResume(ctx context.Context, _ *op.EngineResumeRequest) (*op.EngineStatusResult, error) {
	return s.engineStatus(ctx, nil)
}

func (s *shelf) embed(_ context.Context, req *op.EmbedRequest) (*op.EmbedResult, error) {
	return &op.EmbedResult{Provider: "go", Model: "tiny", Dim: 2, Vectors: [][]float32{{1, 0}, nil}, Tokens: []int{3, 2}, MaxTokens: 256,
		Cosines: [][]float64{{1, 0}, {0, 0}}}, nil
}
