package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkDaemons has many daemons on one machine, each with a home of its own, as a host with many users has. Every
// other one has a thousand memories. They are measured once all have settled, for a minute in which nobody asks anything.
// DAEMONS is how many: make bench-daemons.
func BenchmarkDaemons(b *testing.B) {
	if os.Getenv("DAEMONS") == "" {
		b.Skip("make bench-daemons runs this")
	}
	p, n := newProgram(b), number(b, "DAEMONS", 200)
	for b.Loop() {
		before, available := loadAverage(), available(b)
		all := startMany(b, p, n)
		for _, d := range all {
			d.untilSettled(b)
			d.Close() // an open connection has a timer too
		}
		time.Sleep(time.Minute)
		rest := restOf(b, all)
		printRest(rest, available-rest.available, before)
		for _, d := range all {
			d.stop(b, syscall.SIGTERM)
		}
	}
	onlyMetrics(b)
}

// hosted is one of many daemons.
type hosted struct {
	*daemon
	memories int
	private  float64 // MB
	share    float64 // MB, what is in memory for it, with its part of what it shares with others
	files    int
	watchers int // inotify instances
	wakeups  int
	busy     time.Duration
}

const hostedMemories = 1_000

func startMany(b *testing.B, p *program, n int) (all []*hosted) {
	b.Helper()
	for i := range n {
		own := p.anew(fmt.Sprint("h", i))
		h := &hosted{daemon: own.start(b)}
		if i%2 == 1 {
			h.memories = hostedMemories
			fill(b, h, newProse(uint64(i)), hostedMemories)
		}
		all = append(all, h)
	}
	return all
}

// rest is what all of them do while nobody asks.
type rest struct {
	all       []*hosted
	available float64 // MB of the machine
}

// restOf looks at all daemons for a minute.
func restOf(b *testing.B, all []*hosted) rest {
	b.Helper()
	for _, h := range all {
		h.wakeups, h.busy = h.daemon.wakeups(b), h.processor(b)
	}
	time.Sleep(time.Minute)
	for _, h := range all {
		h.wakeups, h.busy = h.daemon.wakeups(b)-h.wakeups, h.processor(b)-h.busy
		h.private = h.memoryMB(b, "RssAnon")
		h.share = float64(procField(b, h.proc("smaps_rollup"), "Pss")) * 1024 / 1e6
		h.files, h.watchers = h.descriptors(b)
	}
	now := available(b)
	for _, h := range all {
		if got := h.status(b).Memories; got != h.memories {
			b.Fatalf("a daemon has %d memories, want %d", got, h.memories)
		}
	}
	return rest{all, now}
}

func (h *hosted) proc(name string) string {
	return fmt.Sprintf("/proc/%d/%s", h.cmd.Process.Pid, name)
}

// processor is how long the threads that are there have run.
func (h *hosted) processor(b *testing.B) (sum time.Duration) {
	b.Helper()
	files, err := filepath.Glob(h.proc("task/*/schedstat"))
	if err != nil || len(files) == 0 {
		b.Fatalf("the daemon has no threads: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		nanos, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(nanos)
	}
	return sum
}

func (h *hosted) descriptors(b *testing.B) (files, watchers int) {
	b.Helper()
	open, err := filepath.Glob(h.proc("fd/*"))
	if err != nil || len(open) == 0 {
		b.Fatalf("the daemon has no open files: %v", err)
	}
	for _, file := range open {
		if to, err := os.Readlink(file); err == nil && strings.Contains(to, "inotify") {
			watchers++
		}
	}
	return len(open), watchers
}

// available is the memory that the machine can still give, in millions of bytes.
func available(b *testing.B) float64 {
	b.Helper()
	return float64(procField(b, "/proc/meminfo", "MemAvailable")) * 1024 / 1e6
}

// printRest writes Markdown, for medians and the highest.
func printRest(r rest, taken float64, before string) {
	fmt.Printf("\n| memories each | daemons | private MB | share of all memory MB | open files | inotify | wake-ups a minute | processor ms a minute |\n")
	fmt.Printf("|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, memories := range []int{0, hostedMemories} {
		some := slices.DeleteFunc(slices.Clone(r.all), func(h *hosted) bool { return h.memories != memories })
		if len(some) == 0 {
			continue
		}
		fmt.Printf("| %d | %d |", memories, len(some))
		for _, of := range []func(h *hosted) float64{
			func(h *hosted) float64 { return h.private }, func(h *hosted) float64 { return h.share },
			func(h *hosted) float64 { return float64(h.files) }, func(h *hosted) float64 { return float64(h.watchers) },
			func(h *hosted) float64 { return float64(h.wakeups) }, func(h *hosted) float64 { return millis(h.busy) },
		} {
			values := make([]float64, len(some))
			for i, h := range some {
				values[i] = of(h)
			}
			fmt.Printf(" %s, %s |", threeDigits(median(values)), threeDigits(slices.Max(values)))
		}
		fmt.Println()
	}
	sum := 0.0
	for _, h := range r.all {
		sum += h.share
	}
	fmt.Printf("\nThe middle one and the highest. %d daemons share %.0f MB; the machine has %.0f MB less than before. Load before %s, after %s.\n",
		len(r.all), sum, taken, before, loadAverage())
}
