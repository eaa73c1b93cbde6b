package stm_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"emberd/internal/words"
	"emberd/memory"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// BenchmarkSearch asks for three words among 20,000 memories, with nothing near and with
// 200 memories that are.
func BenchmarkSearch(b *testing.B) {
	ts := openStore(b, wal.Options{Durability: wal.None})
	fill(b, ts.Store, 20_000)
	rng := rand.New(rand.NewPCG(3, 4))
	near := map[memory.ID]float64{}
	for r := range ts.Rows() {
		if len(near) < 200 {
			near[r.ID()] = rng.Float64()
		}
	}
	for name, near := range map[string]map[memory.ID]float64{"words": nil, "near": near} {
		b.Run(name, func(b *testing.B) {
			z := rand.NewZipf(rng, 1.1, 3, 20_000)
			for b.Loop() {
				q := table.Query{Near: near, Limit: 10, Most: 1, Rank: func(relevance float64, r *table.Row) float64 { return relevance * float64(r.Strength()) }}
				for range 3 {
					q.Terms = append(q.Terms, words.QueryTerm{Term: fmt.Sprint(wordOf(z.Uint64())), Weight: 1})
				}
				ts.Search(q)
			}
		})
	}
}
