package bench

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"emberd/engine"
	"emberd/op"
	"emberd/stm"
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
				if lines := d.status(b).Log.Recovery.Applied; (from == "log") != (lines >= memories/2) {
					b.Fatalf("a start from the %s read %d lines of the log", from, lines)
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

// BenchmarkReplay starts the daemon over the log of a million memories, without a
// snapshot. Told are how fast the log is read until the socket answers, and the
// physical memory then and at most, until the word index is complete.
func BenchmarkReplay(b *testing.B) {
	const memories = 1_000_000
	p := newProgram(b)
	fillBehind(b, p, newProse(1), memories)
	for b.Loop() {
		p.forgetIndex(b)
		d := p.start(b)
		log := d.status(b).Log
		b.ReportMetric(float64(log.Bytes)/1e6, "log-MB")
		b.ReportMetric(float64(log.Bytes)/1e6/(float64(log.LoadMillis)/1e3), "MB/s")
		b.ReportMetric(millis(d.answered), "answers-ms")
		b.ReportMetric(d.residentMB(b), "answering-MB")
		d.waitIndexed(b)
		b.ReportMetric(millis(time.Since(d.began)), "ready-ms")
		b.ReportMetric(d.memoryMB(b, "VmHWM"), "peak-MB")
		if got := d.status(b).Memories; got != memories {
			b.Errorf("%d memories after the start, want %d", got, memories)
		}
		d.stop(b, syscall.SIGTERM)
	}
	onlyMetrics(b)
}

// BenchmarkStop loads a million memories into a running daemon and stops it at once, while the
// latest snapshot lacks some; and again when it is idle and the snapshot holds all but a thousand
// changes. Told are how long a stop takes, how many lines the next start reads, and until it answers.
func BenchmarkStop(b *testing.B) {
	const memories = 1_000_000
	for b.Loop() {
		p, texts := newProgram(b), newProse(1)
		d := p.start(b)
		fill(b, d, texts, memories)
		b.ReportMetric(time.Since(d.began).Seconds(), "load-s")
		b.ReportMetric(d.memoryMB(b, "VmHWM"), "load-peak-MB")
		d = p.stopAndStart(b, d, "loaded")
		d.waitIndexed(b)
		b.ReportMetric(time.Since(d.began).Seconds(), "loaded-ready-s")
		before := p.snapshotOf(b)
		fill(b, d, texts, 6_000+memories/16) // as many as make a snapshot due
		d.wait(b, time.Second, func() bool { return !os.SameFile(before, p.snapshotOf(b)) })
		fill(b, d, texts, 1_000)
		d = p.stopAndStart(b, d, "idle")
		b.ReportMetric(float64(p.snapshotOf(b).Size())/1e6, "snapshot-MB")
		d.waitIndexed(b)
		b.ReportMetric(time.Since(d.began).Seconds(), "idle-ready-s")
		if got, want := d.status(b).Memories, memories+6_000+memories/16+1_000; got != want {
			b.Errorf("%d memories at the end, want %d", got, want)
		}
		d.stop(b, syscall.SIGTERM)
	}
	onlyMetrics(b)
}

// stopAndStart ends a daemon in order and starts the next one.
func (p *program) stopAndStart(b *testing.B, d *daemon, when string) *daemon {
	b.Helper()
	begin := time.Now()
	d.stop(b, syscall.SIGTERM)
	b.ReportMetric(time.Since(begin).Seconds(), when+"-stop-s")
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		b.Errorf("%s: exit code %d", when, code)
	}
	d = p.start(b)
	b.ReportMetric(d.answered.Seconds(), when+"-answers-s")
	b.ReportMetric(float64(d.status(b).Log.Recovery.Applied), when+"-lines")
	return d
}

// snapshotOf describes the snapshot of the log.
func (p *program) snapshotOf(b *testing.B) os.FileInfo {
	b.Helper()
	info, err := os.Lstat(filepath.Join(p.home, "state", "index", "stm.snap"))
	if err != nil {
		b.Fatal(err)
	}
	return info
}

// fillBehind saves memories into the home of a program that does not run, without
// waiting for the disk.
func fillBehind(b *testing.B, p *program, texts *prose, n int) {
	b.Helper()
	opt := engine.DefaultOptions()
	opt.Data, opt.State, opt.Durability = filepath.Join(p.home, "data"), filepath.Join(p.home, "state"), stm.None
	e, err := engine.Open(opt)
	if err != nil {
		b.Fatal(err)
	}
	fill(b, e, texts, n)
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
}
