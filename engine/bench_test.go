package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/op"
	"emberd/stm"
)

// synthetic makes texts whose words are as unevenly spread as real ones.
type synthetic struct {
	*rand.Rand
	zipf *rand.Zipf
}

func newSynthetic() synthetic {
	r := rand.New(rand.NewPCG(1, 2))
	return synthetic{r, rand.NewZipf(r, 1.1, 8, 30_000)}
}

func (s synthetic) words(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "word%d ", s.zipf.Uint64())
	}
	return b.String()
}

// synthesized opens an engine with n memories of so many words, or up to twenty more.
func synthesized(b *testing.B, n, words int) (*engine.Engine, synthetic) {
	h := newHouse(b)
	h.Logger, h.Options.Now = nil, nil
	e := h.open(b)
	s := newSynthetic()
	for range n / op.MaxBatch {
		req := new(op.SaveBatchRequest)
		for range op.MaxBatch {
			req.Items = append(req.Items, op.SaveRequest{Content: s.words(words + s.IntN(20))})
		}
		do(b, e, op.SaveBatch, req)
	}
	return e, s
}

func BenchmarkSave(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) { benchmarkSave(b, clients, false) })
		b.Run(fmt.Sprintf("clients=%d/enriched", clients), func(b *testing.B) { benchmarkSave(b, clients, true) })
	}
}

func benchmarkSave(b *testing.B, clients int, enrich bool) {
	h := newHouse(b)
	h.Logger, h.Options.Now, h.Durability, h.Enrich = nil, nil, stm.Full, enrich
	e := h.open(b)
	const text = "We moved the Kettle service to PostgreSQL 17 on Thursday; Ada keeps the connection string in config/staging.yaml, " +
		"and deploys wait for the migration job until #414 is merged."
	if clients == 1 {
		for b.Loop() {
			save(b, e, text)
		}
		return
	}
	b.SetParallelism(clients / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := op.Save.Call(b.Context(), e, &op.SaveRequest{Content: text}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkSaveBatch saves 500 texts at a time.
func BenchmarkSaveBatch(b *testing.B) {
	for _, enrich := range []bool{false, true} {
		b.Run(fmt.Sprintf("enrich=%v", enrich), func(b *testing.B) {
			h := newHouse(b)
			h.Logger, h.Options.Now, h.Durability, h.Enrich = nil, nil, stm.Full, enrich
			e := h.open(b)
			req := new(op.SaveBatchRequest)
			for s := newSynthetic(); len(req.Items) < op.MaxBatch; {
				req.Items = append(req.Items, op.SaveRequest{Content: s.words(30)})
			}
			for b.Loop() {
				do(b, e, op.SaveBatch, req)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		e, s := synthesized(b, n, 20)
		var queries []string
		for range 256 {
			queries = append(queries, s.words(3))
		}
		for _, track := range []bool{true, false} {
			b.Run(fmt.Sprintf("memories=%d/track=%v", n, track), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					do(b, e, op.Search, &op.SearchRequest{Query: queries[i%len(queries)], Track: &track})
				}
			})
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
