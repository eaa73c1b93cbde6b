package bench

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"emberd/engine"
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

// BenchmarkIdle leaves a daemon alone until it has settled: with nothing stored, with 10,000 memories and with 10,000
// notes, each after they were stored and after a start. Told are its private memory a minute after the last work
// (RssAnon of /proc/PID/status) and all its physical memory, files of the index included, and how often one of its
// threads woke up within another minute.
func BenchmarkIdle(b *testing.B) {
	b.Run("nothing", func(b *testing.B) { idleTwice(b, newProgram(b), func(*daemon) {}) })
	b.Run("memories=10000", func(b *testing.B) {
		idleTwice(b, newProgram(b), func(d *daemon) { fill(b, d, newProse(1), 10_000) })
	})
	b.Run("notes=10000", func(b *testing.B) {
		f := followed{program: newProgram(b), vault: newNotesVault(b, 10_000)}
		f.forget(b)
		idleTwice(b, f.program, func(d *daemon) { d.waitNotes(b, len(f.vault.paths)) })
	})
}

// idleTwice measures a daemon after work and after a start.
func idleTwice(b *testing.B, p *program, work func(d *daemon)) {
	for _, after := range []string{"work", "start"} {
		b.Run("after="+after, func(b *testing.B) {
			for b.Loop() {
				d := p.start(b)
				if after == "work" {
					work(d)
				}
				idle(b, d)
				d.stop(b, syscall.SIGTERM)
			}
			onlyMetrics(b)
		})
	}
}

// maxWaits is how many minutes the work of a daemon may take.
const maxWaits = 10

func idle(b *testing.B, d *daemon) {
	d.untilSettled(b)
	d.Close() // an open connection has a timer too
	time.Sleep(time.Minute)
	b.ReportMetric(d.memoryMB(b, "RssAnon"), "private-MB")
	b.ReportMetric(d.residentMB(b), "RSS-MB")
	before := d.wakeups(b)
	time.Sleep(time.Minute)
	b.ReportMetric(float64(d.wakeups(b)-before), "wakeups/min")
}

// untilSettled waits until a timer that is armed because of what was done has fired, and all vectors are made.
func (d *daemon) untilSettled(b *testing.B) {
	b.Helper()
	for range maxWaits {
		begun := time.Now() // a wait that takes too long is a failure, so each ends before
		if d.wait(b, time.Second, func() bool { return d.settled(b) || time.Since(begun) > time.Minute }); d.settled(b) {
			return
		}
	}
	b.Fatalf("the daemon has not settled in %d minutes: timers %v", maxWaits, d.status(b).Timers)
}

// settled reports whether the daemon has done what it had to do and is not about to do more.
func (d *daemon) settled(tb testing.TB) bool {
	st := d.status(tb)
	for _, period := range st.Timers {
		if wait, err := time.ParseDuration(period); err != nil || wait < 10*time.Minute {
			return false
		}
	}
	return st.Meaning == nil || st.Meaning.Covered == st.Meaning.Total
}
