package stm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
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
	var before, after runtime.MemStats
	var most uint64
	for b.Loop() {
		b.StopTimer()
		ts := openStore(b, wal.Options{Durability: wal.None})
		halfDead(b, ts.Store, 50_000)
		ts.reopen()
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		got, err := ts.Rewrite(context.Background(), compaction.Job{Inputs: ts.sealed(), HistoryKeep: 90 * day})
		if err != nil {
			b.Fatal(err)
		}
		if got.After == 0 || got.After > got.Before*3/4 {
			b.Fatalf("%d bytes of which half is dead became %d", got.Before, got.After)
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
		var compactions atomic.Int64
		ended := make(chan error)
		go func() { ended <- ts.compactAgain(ctx, &compactions) }()
		least, most := until(15*time.Second), until(10*time.Minute)
		beside := p99(func() bool { return least() || compactions.Load() == 0 && most() })
		stop()
		if err := <-ended; err != nil || compactions.Load() == 0 {
			b.Fatalf("%d compactions ended beside the saves: %v", compactions.Load(), err)
		}
		b.ReportMetric(float64(compactions.Load()), "compactions")
		b.ReportMetric(alone, "p99-alone-µs")
		b.ReportMetric(beside, "p99-beside-µs")
		b.ReportMetric(beside/alone, "ratio")
	}
}

// compactAgain compacts all sealed files, at the pace of the daemon, until ctx ends.
func (ts *testStore) compactAgain(ctx context.Context, compactions *atomic.Int64) error {
	for {
		_, err := ts.Rewrite(ctx, compaction.Job{Inputs: ts.sealed(), HistoryKeep: 90 * day, Rest: 4})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		compactions.Add(1)
	}
}

func until(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().Before(end) }
}
