package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// generated are memories of a collection as it grows: most of them single, one in eight a
// reordered copy of an earlier one, one in fifty junk.
func generated(n int) []op.SaveRequest {
	r := rand.New(rand.NewPCG(5, 5))
	word := func() string {
		return fmt.Sprintf("%c%d", 'a'+rune(r.IntN(26)), int(float64(4000)*r.Float64()*r.Float64()*r.Float64()))
	}
	var out []op.SaveRequest
	for i := range n {
		var words []string
		for range 12 + r.IntN(14) {
			words = append(words, "w"+strings.Map(letters, word()))
		}
		text := strings.Join(words, " ")
		switch {
		case i%50 == 7:
			text = fmt.Sprintf("test entry #%d", i)
		case i%8 == 3:
			words = strings.Fields(out[r.IntN(len(out))].Content)
			r.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
			text = strings.Join(words, " ")
		}
		out = append(out, op.SaveRequest{Content: text, CreatedAt: time.Date(2025, 6, 1, 0, i, 0, 0, time.UTC), LastUsed: time.Date(2025, 6, 1, 0, i, 0, 0, time.UTC)})
	}
	return out
}

// letters spells digits, so that texts do not differ in numbers.
func letters(r rune) rune {
	if r >= '0' && r <= '9' {
		return 'k' + r - '0'
	}
	return r
}

// BenchmarkCleanup is a whole run on a disk: backup, plan, execution and both measurements.
func BenchmarkCleanup(b *testing.B) {
	for _, n := range []int{1_000, 5_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := newHouse(b)
			h.EchoWindow, h.Durability = 0, stm.Full
			e := h.open(b)
			e.Storage.BuildIndex(b.Context())
			items := generated(n)
			for len(items) > 0 {
				some := items[:min(500, len(items))]
				do(b, e, op.SaveBatch, &op.SaveBatchRequest{Items: some})
				items = items[len(some):]
			}
			h.ms.Add(time.Hour.Milliseconds())
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			most, stop := watchHeap()
			b.ResetTimer()
			for b.Loop() {
				run := do(b, e, op.Cleanup, &op.CleanupRequest{Collection: memory.DefaultCollection, Mode: op.CleanupFull, Execute: true})
				if run.State != op.CleanupDone || run.Counts[op.CleanupMerge] < n/16 {
					b.Fatalf("it ended as %s: %v, %s", run.State, run.Counts, run.RolledBack)
				}
				b.StopTimer()
				b.ReportMetric(float64(run.Entries-run.After)/float64(run.Entries)*100, "%fewer")
				b.ReportMetric(float64(run.Validated.Recall), "recall")
				do(b, e, op.CleanupRollback, &op.CleanupRollbackRequest{})
				h.ms.Add(time.Hour.Milliseconds())
				b.StartTimer()
			}
			b.StopTimer()
			stop()
			b.ReportMetric(float64(most.Load()-before.HeapAlloc)/(1<<20), "MiB-more")
		})
	}
}

// watchHeap notes the most that the heap has while something runs.
func watchHeap() (most *atomic.Uint64, stop func()) {
	most = new(atomic.Uint64)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-quit:
				return
			case <-tick.C:
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				most.Store(max(most.Load(), now.HeapAlloc))
			}
		}
	}()
	return most, func() { close(quit); <-gone }
}
