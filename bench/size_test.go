package bench

import (
	"emberd/engine"
	"runtime"
	"syscall"
	"testing"
	"time"

	"emberd/op"
	"emberd/stm"
)

// BenchmarkHeap tells what a memory of 300 bytes costs on the heap, all indexes
// included, in an engine that was just filled.
func BenchmarkHeap(b *testing.B) {
	const memories = 100_000
	opt := engine.DefaultOptions()
	opt.Durability = stm.None // how fast it fills is not measured here
	for b.Loop() {
		before := heap()
		e := openEngine(b, opt)
		fill(b, e, newProse(1), memories)
		b.ReportMetric(float64(heap()-before)/memories, "B/memory")
		runtime.KeepAlive(e)
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	onlyMetrics(b)
}

// heap is what is reachable, in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one only made ready to be freed
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkIdle leaves a daemon with 10,000 memories alone for a minute: after
// having saved them, and after a start. Told are its physical memory at the end
// of the minute and how often one of its threads woke up.
func BenchmarkIdle(b *testing.B) {
	p := newProgram(b)
	d := p.start(b)
	fill(b, d, newProse(1), 10_000)
	b.Run("after=fill", func(b *testing.B) { idle(b, d) })
	d.stop(b, syscall.SIGTERM)
	b.Run("after=start", func(b *testing.B) {
		d := p.start(b)
		idle(b, d)
		d.stop(b, syscall.SIGTERM)
	})
}

func idle(b *testing.B, d *daemon) {
	for b.Loop() {
		// A timer that is armed because of what was done has to fire first.
		d.wait(b, 5*time.Second, func() bool { return len(d.status(b).Timers) == 0 })
		d.Close() // an open connection has a timer too
		time.Sleep(5 * time.Second)
		settled, before := d.residentMB(b), d.wakeups(b)
		time.Sleep(time.Minute)
		woken := d.wakeups(b) - before
		b.ReportMetric(settled, "settled-MB")
		b.ReportMetric(d.residentMB(b), "RSS-MB")
		b.ReportMetric(float64(woken), "wakeups/min")
	}
	onlyMetrics(b)
	if n := call(b, d, op.Status, &op.StatusRequest{}).Memories; n != 10_000 {
		b.Errorf("the daemon holds %d memories, want 10,000", n)
	}
}
