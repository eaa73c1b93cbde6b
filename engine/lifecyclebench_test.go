package engine_test

import (
	"fmt"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// stock saves n memories that were not used for so many days, on a disk that syncs.
func stock(b *testing.B, n int, days float64) (*house, *engine.Engine) {
	b.Helper()
	h := newHouse(b)
	h.Logger, h.Durability, h.DetectSecrets = nil, stm.Full, false
	h.Lifecycle.Most, h.Lifecycle.Share = n, 1
	h.ms.Store(time.Now().UnixMilli())
	e := h.open(b)
	s := newSynthetic()
	for left := n; left > 0; left -= op.MaxBatch {
		req := new(op.SaveBatchRequest)
		for i := range min(left, op.MaxBatch) {
			req.Items = append(req.Items, op.SaveRequest{Content: s.words(20 + s.IntN(20)), CreatedAt: h.daysAgo(days), LastUsed: h.daysAgo(days),
				Project: fmt.Sprint("project", i%7), Tags: []string{fmt.Sprint("tag", s.zipf.Uint64()%500), fmt.Sprint("tag", s.zipf.Uint64()%500)}})
		}
		do(b, e, op.SaveBatch, req)
	}
	return h, e
}

// Of a run that demotes a thousand memories, the log's sync included.
func BenchmarkDemote1000(b *testing.B) {
	h, e := stock(b, 1000, 10)
	for b.Loop() {
		res, err := e.Lifecycle.RunLifecycleOnce(b.Context(), lifecycle.AgingActor(), true)
		b.StopTimer()
		if ok(b, err); counts(res)[op.MoveDemote] != 1000 {
			b.Fatalf("the run did %v", counts(res))
		}
		do(b, e, op.Undo, &op.UndoRequest{Tx: res.Tx})
		h.advance(8 * 24 * time.Hour) // what was brought back is due again
		b.StartTimer()
	}
}

// A plan over a store in which nothing is due.
func BenchmarkPlan(b *testing.B) {
	_, e := stock(b, 100_000, 1)
	for b.Loop() {
		r := lifecycle.LifecycleRun{E: e.Lifecycle, Now: e.Opt.Now()}
		if plan, _ := r.Plan(); len(plan.Moves) != 0 {
			b.Fatalf("%d are due", len(plan.Moves))
		}
	}
}

func BenchmarkStats(b *testing.B) {
	_, e := stock(b, 100_000, 1)
	do(b, e, op.Stats, &op.StatsRequest{})
	for _, changing := range []bool{false, true} {
		b.Run(fmt.Sprint("changing=", changing), func(b *testing.B) {
			for b.Loop() {
				if changing {
					e.Revision.Add(1)
				}
				if got := do(b, e, op.Stats, &op.StatsRequest{}); got.Total != 100_000 || got.Stages[memory.Active] != 100_000 {
					b.Fatalf("%+v", got)
				}
			}
		})
	}
}
