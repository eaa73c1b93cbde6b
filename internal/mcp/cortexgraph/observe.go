package cortexgraph

import (
	"context"

	"emberd/internal/mcp/tool"
	"emberd/op"
)

type analyzeMessageIn struct {
	Message string `json:"message" max:"50000" doc:"message of the user to analyze"`
}

type analyzeMessageOut struct {
	ShouldSave        bool     `json:"should_save"`
	Confidence        float64  `json:"confidence" doc:"confidence that the message contains something to save: above 0.7, save; from 0.4 to 0.7, ask the user; below 0.4, do not save"`
	SuggestedEntities []string `json:"suggested_entities"`
	SuggestedTags     []string `json:"suggested_tags"`
	SuggestedStrength float64  `json:"suggested_strength"`
	Reasoning         string   `json:"reasoning"`
}

func analyzeMessage(ctx context.Context, c *tool.Call, in *analyzeMessageIn) (*analyzeMessageOut, error) {
	res, err := op.AnalyzeMessage.Call(ctx, c, &op.AnalyzeMessageRequest{Message: in.Message})
	if err != nil {
		return nil, err
	}
	return (*analyzeMessageOut)(res), nil
}

type analyzeRecallIn struct {
	Message string `json:"message" max:"50000" doc:"message of the user to analyze"`
}

type analyzeRecallOut struct {
	ShouldSearch      bool     `json:"should_search"`
	Confidence        float64  `json:"confidence" doc:"confidence that the message requires a search: above 0.7, search; from 0.4 to 0.7, ask the user; below 0.4, do not search"`
	SuggestedQuery    string   `json:"suggested_query"`
	SuggestedTags     []string `json:"suggested_tags"`
	SuggestedEntities []string `json:"suggested_entities"`
	Reasoning         string   `json:"reasoning"`
}

func analyzeForRecall(ctx context.Context, c *tool.Call, in *analyzeRecallIn) (*analyzeRecallOut, error) {
	res, err := op.AnalyzeRecall.Call(ctx, c, &op.AnalyzeRecallRequest{Message: in.Message})
	if err != nil {
		return nil, err
	}
	return (*analyzeRecallOut)(res), nil
}

type observeMemoryUsageIn struct {
	MemoryIDs   []string `json:"memory_ids" min:"1" max:"100" doc:"IDs of the memories that the answer used"`
	ContextTags []string `json:"context_tags,omitempty" max:"50" default:"[]" doc:"tags of the conversation; if a memory has few of these tags, emberd also raises the strength of the memory"`
}

// observeMemoryUsageOut has neither CrossDomain nor Results when nothing is counted.
type observeMemoryUsageOut struct {
	Reinforced  bool       `json:"reinforced"`
	Reason      string     `json:"reason,omitempty"`
	Count       int        `json:"count"`
	CrossDomain *int       `json:"cross_domain_count,omitempty"`
	Results     []observed `json:"results,omitzero"`
}

// observed has nothing but ID and Status of a memory that is not there.
type observed struct {
	ID          string   `json:"id"`
	Status      string   `json:"status" enum:"reinforced|not_found"`
	CrossDomain *bool    `json:"cross_domain,omitempty"`
	UseCount    int64    `json:"new_use_count,omitempty"`
	ReviewCount int64    `json:"new_review_count,omitempty"`
	Strength    *decimal `json:"strength,omitempty"`
}

func observeMemoryUsage(ctx context.Context, c *tool.Call, in *observeMemoryUsageIn) (*observeMemoryUsageOut, error) {
	res, err := op.Observe.Call(ctx, c, &op.ObserveRequest{IDs: in.MemoryIDs, Tags: in.ContextTags})
	if err != nil {
		return nil, err
	}
	out := &observeMemoryUsageOut{Reinforced: res.Reinforced, Reason: res.Reason, Count: res.Count}
	if res.Reason != "" {
		return out, nil
	}
	out.CrossDomain, out.Results = &res.CrossDomain, make([]observed, 0, len(res.Results))
	for _, r := range res.Results {
		told := observed{ID: r.ID, Status: r.Status}
		if r.Status == op.ObservedReinforced {
			told.CrossDomain, told.UseCount, told.ReviewCount, told.Strength = &r.CrossDomain, r.UseCount,
				r.ReviewCount, new(round(r.Strength, 4))
		}
		out.Results = append(out.Results, told)
	}
	return out, nil
}
