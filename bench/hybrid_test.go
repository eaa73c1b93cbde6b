package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

// BenchmarkHybrid asks a daemon whose memories all have vectors of the static table, by turns
// with vectors and by words alone.
func BenchmarkHybrid(b *testing.B) {
	p := newProgram(b)
	config := "embedding:\n  providers: static\n  cpu_share: 1\nsearch:\n  meaning: 1\n  meaning_wait: 10s\n"
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	texts, have := newProse(1), 0
	for _, n := range []int{10_000, 100_000} {
		fillBehind(b, p, texts, n-have)
		have = n
		d := p.start(b)
		d.waitIndexed(b)
		d.waitCovered(b, n)
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			questions := newProse(uint64(n))
			hybrid, words := weighed{weight: 1}, weighed{}
			for i := 0; b.Loop(); i++ {
				block := make([]string, 100)
				for j := range block {
					block[j] = questions.question()
				}
				turns := []*weighed{&hybrid, &words}
				if i%2 == 1 {
					slices.Reverse(turns)
				}
				for _, w := range turns {
					w.ask(b, d, block)
				}
			}
			onlyMetrics(b)
			for name, w := range map[string]*weighed{"hybrid": &hybrid, "words": &words} {
				b.ReportMetric(micros(quantile(w.took, 0.5)), name+"-p50-µs")
				b.ReportMetric(micros(quantile(w.took, 0.99)), name+"-p99-µs")
			}
			b.ReportMetric(median(ratiosOf(hybrid.medians, words.medians)), "hybrid/words")
			b.ReportMetric(float64(len(hybrid.took)), "searches")
		})
		d.stop(b, syscall.SIGTERM)
	}
}

// waitCovered returns when so many memories have their vectors.
func (d *daemon) waitCovered(tb testing.TB, n int) {
	tb.Helper()
	covered, moved := -1, time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		m := call(tb, d, op.Search, &op.SearchRequest{Query: "the", Limit: 1, Track: new(false), MeaningWeight: new(0.0)}).Meaning
		switch {
		case m != nil && m.Covered >= n:
			return
		case m != nil && m.Covered != covered:
			covered, moved = m.Covered, time.Now()
		case time.Since(moved) > time.Minute:
			tb.Fatalf("no vector was made for a minute: %+v", m)
		}
	}
}

// weighed is a client whose searches trust vectors so much.
type weighed struct {
	weight  float64
	took    []time.Duration
	medians []float64 // by block
}

func (w *weighed) ask(b *testing.B, d *daemon, questions []string) {
	took := make([]time.Duration, len(questions))
	for i, q := range questions {
		start := time.Now()
		res := call(b, d, op.Search, &op.SearchRequest{Query: q, Track: new(false), MeaningWeight: &w.weight})
		took[i] = time.Since(start)
		if w.weight > 0 && (res.Meaning == nil || res.Meaning.Without != "") {
			b.Fatalf("a search went without vectors: %+v", res.Meaning)
		}
		if len(res.Hits) == 0 {
			b.Fatalf("%q was answered with nothing", q)
		}
	}
	w.took = append(w.took, took...)
	w.medians = append(w.medians, micros(median(took)))
}
