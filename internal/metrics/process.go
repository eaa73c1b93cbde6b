package metrics

import (
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/sys/unix"
)

// Process tells of the process itself, by the names that Prometheus's own libraries use.
// What it reads it opens before a sandbox may take that from it.
type Process struct {
	started time.Time
	system  system
}

// OpenProcess opens what the system tells of this process, as far as it does.
func OpenProcess() *Process {
	o := &Process{started: time.Now()}
	o.system.open()
	return o
}

// Close closes it.
func (o *Process) Close() error { return o.system.close() }

// Measure adds what there is to tell to a page.
func (o *Process) Measure(p *Exposition) {
	p.Gauge("process_start_time_seconds", "Start time of the daemon, in seconds since 1 January 1970 UTC.")
	p.Sample(float64(o.started.UnixMilli()) / 1e3)
	p.Counter("process_cpu_seconds_total", "Processor time that the daemon used, excluding helper processes.")
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) == nil {
		p.Sample(time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds())
	}
	p.Gauge("process_open_fds", "Number of files that the daemon has open.")
	if n, ok := o.system.files(); ok {
		p.Sample(float64(n))
	}
	p.Gauge("process_max_fds", "Maximum number of files that the daemon can have open.")
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		p.Sample(float64(limit.Cur))
	}
	p.Gauge("process_resident_memory_bytes",
		"Physical memory that the daemon uses, excluding helper processes. Not available on macOS.")
	if n, ok := o.system.resident(); ok {
		p.Sample(float64(n))
	}
	runtimeFamilies(p)
}

// ofRuntime are numbers of package runtime/metrics, by the names that they have elsewhere.
var ofRuntime = []struct {
	family, help, key string
	grows             bool
}{
	{"go_goroutines", "Number of goroutines.", "/sched/goroutines:goroutines", false},
	{"go_memstats_heap_alloc_bytes", "Heap memory in objects, including garbage that is not yet freed.",
		"/memory/classes/heap/objects:bytes", false},
	{"go_memstats_heap_objects", "Number of objects on the heap.", "/gc/heap/objects:objects", false},
	{"go_memstats_heap_released_bytes", "Heap memory returned to the operating system.",
		"/memory/classes/heap/released:bytes", false},
	{"go_memstats_next_gc_bytes", "Heap size at which the next " +
		"garbage collection starts.", "/gc/heap/goal:bytes", false},
	{"go_memstats_sys_bytes", "Memory that the Go runtime obtained from the operating system, including memory that " +
		"it returned later.",
		"/memory/classes/total:bytes", false},
	{"go_memstats_alloc_bytes_total", "Heap memory allocated " +
		"since the process started.", "/gc/heap/allocs:bytes", true},
	{"go_gc_cycles_total", "Number of garbage collections.", "/gc/cycles/total:gc-cycles", true},
}

// runtimeFamilies reads what needs no stop of the world.
func runtimeFamilies(p *Exposition) {
	p.Gauge("go_info", "Always 1; the label version contains the Go version that emberd was built with.", "version")
	p.Sample(1, runtime.Version())
	p.Gauge("go_sched_gomaxprocs_threads", "Maximum number of threads that run Go code at the same time.")
	p.Sample(float64(runtime.GOMAXPROCS(0)))
	read := make([]metrics.Sample, len(ofRuntime))
	for i := range ofRuntime {
		read[i].Name = ofRuntime[i].key
	}
	metrics.Read(read)
	for i, m := range ofRuntime {
		if m.grows {
			p.Counter(m.family, m.help)
		} else {
			p.Gauge(m.family, m.help)
		}
		if read[i].Value.Kind() == metrics.KindUint64 {
			p.Sample(float64(read[i].Value.Uint64()))
		}
	}
}
