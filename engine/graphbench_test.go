package engine_test

import (
	"fmt"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// BenchmarkGraph asks for pages of a graph of 100,000 memories with as many relations,
// half of which lead to a hundred hubs, and opens such a hub.
func BenchmarkGraph(b *testing.B) {
	const memories = 100_000
	h := newHouse(b)
	h.Logger, h.DetectSecrets = nil, false
	e := h.open(b)
	ids := woven(b, e, memories)
	for name, req := range map[string]op.GraphRequest{
		"first":    {},
		"last":     {Page: memories / 100, PageSize: 100},
		"limit":    {Limit: 1000, PageSize: 100},
		"filtered": {Filter: op.Filter{Tags: []string{"even"}}, Status: "all"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				do(b, e, op.Graph, &req)
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		req := &op.OpenManyRequest{Track: new(false)}
		for _, id := range ids[:10] {
			req.IDs = append(req.IDs, string(id))
		}
		for b.Loop() {
			do(b, e, op.OpenMany, req)
		}
	})
	b.Run("relate", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			do(b, e, op.Relate, &op.RelateRequest{From: string(ids[i%memories]), To: string(ids[0]), Type: memory.Supports, Kind: fmt.Sprint(i)})
		}
	})
}

// woven saves memories and relates each to another: every second one to a hub.
func woven(b *testing.B, e *engine.Engine, n int) []memory.ID {
	b.Helper()
	words := newSynthetic()
	var ids []memory.ID
	for len(ids) < n {
		req := new(op.SaveBatchRequest)
		for i := range op.MaxBatch {
			req.Items = append(req.Items, op.SaveRequest{Content: words.words(40), Tags: []string{[]string{"even", "odd"}[i%2]}})
		}
		for _, r := range do(b, e, op.SaveBatch, req).Results {
			ids = append(ids, r.ID)
		}
	}
	for i := 0; i < n; i += op.MaxBatch {
		req := new(op.RelateBatchRequest)
		for j := i; j < i+op.MaxBatch; j++ {
			to := ids[words.IntN(n)]
			if j%2 == 0 {
				to = ids[words.IntN(100)]
			}
			req.Items = append(req.Items, op.RelateRequest{From: string(ids[j]), To: string(to), Type: memory.Related})
		}
		do(b, e, op.RelateBatch, req)
	}
	return ids
}
