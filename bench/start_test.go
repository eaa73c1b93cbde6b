package bench

import (
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

// BenchmarkColdStart starts the daemon over 100,000 memories: answers is the time
// from exec until the socket tells its version, ready until every memory is
// in the word index and a search says so. The files are in the page cache.
func BenchmarkColdStart(b *testing.B) {
	const memories = 100_000
	p := newProgram(b)
	d := p.start(b)
	fill(b, d, newProse(1), memories)
	d.stop(b, syscall.SIGTERM)
	for _, from := range []string{"snapshot", "log"} {
		b.Run("from="+from, func(b *testing.B) {
			var answers, ready []time.Duration
			for b.Loop() {
				if from == "log" {
					p.forgetIndex(b)
				}
				d := p.start(b)
				d.waitIndexed(b)
				res := call(b, d, op.Search, &op.SearchRequest{Query: newProse(2).question()})
				answers, ready = append(answers, d.answered), append(ready, time.Since(d.began))
				if res.Loading != nil || len(res.Hits) == 0 {
					b.Errorf("the first search had %d hits while loading %+v, want some and none", len(res.Hits), res.Loading)
				}
				if got := d.status(b).Memories; got != memories {
					b.Errorf("%d memories after the start, want %d", got, memories)
				}
				d.stop(b, syscall.SIGTERM)
			}
			onlyMetrics(b)
			b.ReportMetric(millis(median(answers)), "answers-ms")
			b.ReportMetric(millis(median(ready)), "ready-ms")
			b.ReportMetric(float64(len(ready)), "starts")
		})
	}
}
