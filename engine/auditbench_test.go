package engine_test

import (
	"testing"
	"time"

	"emberd/op"
)

// BenchmarkAccountOfASearch is what counting adds to a search of 1,000 memories: by itself,
// and between searches, with whatever those leave in the caches of the processor. The share
// is of the latter, of both in the same turns.
func BenchmarkAccountOfASearch(b *testing.B) {
	h := newHouse(b)
	h.Logger, h.Options.Now = nil, nil
	e := h.open(b)
	s := newSynthetic()
	for range 1000 / op.MaxBatch {
		req := new(op.SaveBatchRequest)
		for range op.MaxBatch {
			req.Items = append(req.Items, op.SaveRequest{Content: s.words(20 + s.IntN(20))})
		}
		do(b, e, op.SaveBatch, req)
	}
	var asked []*op.SearchRequest
	var answers []*op.SearchResult
	for range 64 {
		asked = append(asked, &op.SearchRequest{Query: s.words(3)})
		answers = append(answers, do(b, e, op.Search, asked[len(asked)-1]))
	}
	ctx := op.WithCaller(b.Context(), anAgent)
	b.Run("alone", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			e.Admin.Account(ctx, op.Search.Spec, asked[i%64], answers[i%64], nil)
		}
	})
	b.Run("between", func(b *testing.B) {
		var search, count time.Duration
		for i := 0; b.Loop(); i++ {
			begun := time.Now()
			res := do(b, e, op.Search, asked[i%64])
			found := time.Now()
			e.Admin.Account(ctx, op.Search.Spec, asked[i%64], res, nil)
			search, count = search+found.Sub(begun), count+time.Since(found)
		}
		b.ReportMetric(float64(count.Nanoseconds())/float64(b.N), "ns/count")
		b.ReportMetric(100*float64(count)/float64(search), "%search")
	})
}
