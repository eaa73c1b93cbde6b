package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"emberd/op"
)

// withoutVectors is the setting of a daemon that makes no vectors.
const withoutVectors = "search.meaning=off"

// BenchmarkMillion saves memories into a running daemon without vectors and starts it again. Nine in ten are in the log
// before its first start. Told are how long that takes until all is indexed; how many memories a second it saves then;
// its private memory (RssAnon) at most while it loads and a minute after, and a minute after the second start; how long
// searches for ten hits and saves take then; how long the snapshot takes after the saves; and how long that start,
// until the socket answers and until all is indexed, and a stop take. One size alone:
//
//	go test -run '^$' -bench 'Million/^100000$' -benchtime 1x ./bench
func BenchmarkMillion(b *testing.B) {
	for _, memories := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(memories), func(b *testing.B) {
			for b.Loop() {
				million(b, memories)
			}
			onlyMetrics(b)
		})
	}
}

func million(b *testing.B, memories int) {
	p, texts := newProgram(b), newProse(1)
	fillBehind(b, p, texts, memories-memories/10)
	d := p.start(b, withoutVectors)
	d.waitIndexed(b)
	b.ReportMetric(time.Since(d.began).Seconds(), "log-ready-s")
	begun := time.Now()
	fill(b, d, texts, memories/10) // enough for a snapshot, in which the documents leave the memory
	b.ReportMetric(float64(memories/10)/time.Since(begun).Seconds(), "saved/s")
	b.ReportMetric(d.memoryMB(b, "VmHWM"), "load-peak-MB")
	begun = time.Now()
	p.waitSnapshot(b, begun)
	b.ReportMetric(time.Since(begun).Seconds(), "snapshot-s")
	idle(b, d)
	b.ReportMetric(d.memoryMB(b, "RssAnon"), "loaded-private-MB")
	begun = time.Now()
	d.stop(b, syscall.SIGTERM)
	b.ReportMetric(millis(time.Since(begun)), "stop-ms")
	d = p.start(b, withoutVectors)
	b.ReportMetric(millis(d.answered), "answers-ms")
	d.waitIndexed(b)
	b.ReportMetric(millis(time.Since(d.began)), "ready-ms")
	searches, saves := timesOf(b, d, texts)
	b.ReportMetric(millis(quantile(searches, 0.5)), "search-p50-ms")
	b.ReportMetric(millis(quantile(searches, 0.99)), "search-p99-ms")
	b.ReportMetric(millis(quantile(saves, 0.99)), "save-p99-ms")
	idle(b, d)
	b.ReportMetric(d.memoryMB(b, "RssAnon"), "private-MB")
	if got := d.status(b).Memories; got < memories {
		b.Errorf("%d memories at the end, want %d", got, memories)
	}
	d.stop(b, syscall.SIGTERM)
}

// waitSnapshot waits until the daemon has written a snapshot after a moment, since a start without it reads the log.
func (p *program) waitSnapshot(b *testing.B, after time.Time) {
	b.Helper()
	name := filepath.Join(p.home, "state", "index", "stm.snap")
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(after) {
			return
		}
		if time.Now().After(end) {
			b.Fatal("no snapshot after ten minutes")
		}
	}
}

// timesOf takes the times of a thousand searches and a hundred saves.
func timesOf(b *testing.B, d *daemon, texts *prose) (searches, saves []time.Duration) {
	for i := range 1_000 {
		question, begun := texts.question(), time.Now()
		call(b, d, op.Search, &op.SearchRequest{Query: question})
		searches = append(searches, time.Since(begun))
		if i%10 == 0 {
			begun = time.Now()
			call(b, d, op.Save, &op.SaveRequest{Content: texts.text(typicalText)})
			saves = append(saves, time.Since(begun))
		}
	}
	return searches, saves
}
