package engine_test

import (
	"fmt"
	"testing"

	"emberd/op"
)

// BenchmarkScopedSearch is by a grant that sees one memory of ten.
func BenchmarkScopedSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			h := newHouse(b)
			h.Logger, h.Options.Now = nil, nil
			e := h.open(b)
			s := newSynthetic()
			for range n / op.MaxBatch {
				req := new(op.SaveBatchRequest)
				for i := range op.MaxBatch {
					req.Items = append(req.Items, op.SaveRequest{Content: s.words(20 + s.IntN(20)), Tags: []string{"home"}})
					if i%10 == 0 {
						req.Items[i].Tags = []string{"work"}
					}
				}
				do(b, e, op.SaveBatch, req)
			}
			e.Storage.BuildIndex(b.Context())
			for i := 0; b.Loop(); i++ {
				if _, err := as(workGrant(), e, op.Search, &op.SearchRequest{Query: s.words(3)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
