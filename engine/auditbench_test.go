package engine

import (
	"testing"

	"emberd/op"
)

// BenchmarkAccountOfASearch is what counting adds to a search, by itself; compare it with
// BenchmarkSearch.
func BenchmarkAccountOfASearch(b *testing.B) {
	h := newHouse(b)
	h.Logger, h.Options.Now = nil, nil
	e := h.open(b)
	s := newSynthetic()
	for range 2 {
		req := new(op.SaveBatchRequest)
		for range op.MaxBatch {
			req.Items = append(req.Items, op.SaveRequest{Content: s.words(20 + s.IntN(20))})
		}
		do(b, e, op.SaveBatch, req)
	}
	var answers []*op.SearchResult
	req := &op.SearchRequest{}
	for range 64 {
		req.Query = s.words(3)
		answers = append(answers, do(b, e, op.Search, req))
	}
	ctx := op.WithCaller(b.Context(), anAgent)
	for i := 0; b.Loop(); i++ {
		e.account(ctx, op.Search.Spec, req, answers[i%len(answers)], nil)
	}
}
