package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"emberd/compaction"
	"emberd/memory"
	"emberd/stm"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// halfDead saves so many memories and writes every one of them again.
func halfDead(b *testing.B, s *stm.Store, n int) {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 2 * n {
		tx := proseTx(rng)
		tx.Changes[0].ID = memory.DeriveID(fmt.Append(nil, i%n))
		if i >= n {
			tx.Changes[0].Set = map[string]json.RawMessage{"content": tx.Changes[0].Set["content"]}
		}
		if _, err := s.Update(context.Background(), nil, "", func([]*table.Row) (*wal.Tx, error) { return &tx, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompaction folds 100,000 saves of which half were superseded by the
// other half.
func BenchmarkCompaction(b *testing.B) {
	ts := openStore(b, wal.Options{Durability: wal.None})
	halfDead(b, ts.Store, 50_000)
	ts.reopen()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	for b.Loop() {
		got, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: ts.sealed(), HistoryKeep: 90 * day})
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		most = max(most, after.HeapAlloc)
		b.ReportMetric(float64(got.Before)/1e6/got.Took.Seconds(), "MB/s")
		b.ReportMetric(float64(got.Before)/1e6, "MB-in")
		b.ReportMetric(float64(got.After)/1e6, "MB-out")
	}
	b.ReportMetric(float64(most-min(most, before.HeapAlloc))/1e6, "MB-heap-more")
}

// BenchmarkSavesDuringCompaction measures saves of one client beside a
// compaction, over and over, and without one.
func BenchmarkSavesDuringCompaction(b *testing.B) {
	ts := openStore(b, wal.Options{})
	ts.Wal().Durability = wal.None
	halfDead(b, ts.Store, 50_000)
	ts.reopen()
	ts.Wal().Durability = wal.Full
	rng := rand.New(rand.NewPCG(3, 4))
	p99 := func(while func() bool) float64 {
		var took []time.Duration
		for while() || len(took) < 200 {
			tx := proseTx(rng)
			begin := time.Now()
			if _, err := ts.try(tx); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		return float64(took[len(took)*99/100].Microseconds())
	}
	for b.Loop() {
		alone := p99(until(15 * time.Second))
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan int)
		inputs := ts.sealed()
		go func() {
			n := 0
			for ctx.Err() == nil {
				files := inputs
				if n > 0 {
					files = ts.sealed()
				}
				if _, err := ts.Rewrite(ctx, compaction.Job{Inputs: files, HistoryKeep: 90 * day, Rest: 4}); err == nil {
					n++
				}
			}
			done <- n
		}()
		beside := p99(until(15 * time.Second))
		stop()
		b.ReportMetric(float64(<-done), "compactions")
		b.ReportMetric(alone, "p99-alone-µs")
		b.ReportMetric(beside, "p99-beside-µs")
		b.ReportMetric(beside/alone, "ratio")
	}
}

func until(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().Before(end) }
}
