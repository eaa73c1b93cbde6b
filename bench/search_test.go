package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"emberd/op"
)

// BenchmarkSearch asks the daemon questions, in blocks that count accesses and
// blocks that do not, by turns.
func BenchmarkSearch(b *testing.B) {
	p := newProgram(b)
	d := p.start(b)
	texts, have := newProse(1), 0
	for _, n := range []int{1_000, 10_000, 100_000} {
		fill(b, d, texts, n-have)
		have = n
		d.waitIndexed(b)
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			questions := newProse(uint64(n))
			var tracked, untracked asker
			tracked.track = true
			for i := 0; b.Loop(); i++ {
				block := make([]string, 250)
				for j := range block {
					block[j] = questions.question()
				}
				turns := []*asker{&tracked, &untracked}
				if i%2 == 1 {
					slices.Reverse(turns)
				}
				for _, a := range turns {
					a.ask(b, d, block)
				}
			}
			onlyMetrics(b)
			b.ReportMetric(micros(quantile(tracked.took, 0.5)), "p50-µs")
			b.ReportMetric(micros(quantile(tracked.took, 0.99)), "p99-µs")
			b.ReportMetric(micros(quantile(untracked.took, 0.5)), "untracked-p50-µs")
			b.ReportMetric(micros(quantile(untracked.took, 0.99)), "untracked-p99-µs")
			b.ReportMetric(median(ratiosOf(tracked.medians, untracked.medians)), "tracked/untracked")
			b.ReportMetric(float64(len(tracked.took)), "searches")
			if tracked.counted == 0 || untracked.counted > 0 {
				b.Fatalf("%d accesses were counted, and %d that should not have been", tracked.counted, untracked.counted)
			}
		})
	}
}

// asker is a client that does or does not let its searches count.
type asker struct {
	track   bool
	took    []time.Duration
	medians []float64 // by block
	counted int64     // accesses of the first hit of each block, by its searches
}

func (a *asker) ask(b *testing.B, d *daemon, questions []string) {
	took, empties := make([]time.Duration, len(questions)), 0
	top := call(b, d, op.Search, &op.SearchRequest{Query: questions[0], Track: new(false)}).Hits
	for i, q := range questions {
		start := time.Now()
		res := call(b, d, op.Search, &op.SearchRequest{Query: q, Track: &a.track})
		took[i] = time.Since(start)
		empties += empty(len(res.Hits))
	}
	if len(top) == 0 || empties > len(questions)/10 {
		b.Fatalf("%d of %d questions were answered with nothing", empties, len(questions))
	}
	again := call(b, d, op.Show, &op.ShowRequest{ID: string(top[0].Memory.ID), Track: new(false)})
	a.counted += again.Memory.AccessCount - top[0].Memory.AccessCount
	a.took = append(a.took, took...)
	a.medians = append(a.medians, micros(median(took)))
	if a.track {
		// Counted accesses are written within a second. That belongs to this block
		// and must not slow the next one.
		time.Sleep(1100 * time.Millisecond)
	}
}

func ratiosOf(a, b []float64) []float64 {
	ratios := make([]float64, len(a))
	for i := range ratios {
		ratios[i] = a[i] / b[i]
	}
	return ratios
}
