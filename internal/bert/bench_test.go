//go:build unix

package bert

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/tinybert"
)

// One core: make bench BENCH=Embed GOFLAGS=-cpu=1. Where others use the machine too, the
// texts per second of processor time tell more than those of the clock.
func BenchmarkEmbed(b *testing.B) {
	for _, kind := range kinds() {
		path := written(b, tinybert.New(tinybert.MiniLM(kind.Type)))
		for _, tokens := range []int{61, 251} {
			b.Run(fmt.Sprintf("%s/tokens=%d", kind.name, tokens), func(b *testing.B) { benchmarkEmbed(b, path, tokens) })
		}
	}
}

type kind struct {
	name string
	tinybert.Type
}

func kinds() []kind {
	return []kind{{"F32", tinybert.F32}, {"F16", tinybert.F16}, {"Q8_0", tinybert.Q8_0}}
}

func benchmarkEmbed(b *testing.B, path string, tokens int) {
	m, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("note ", tokens-2)
	if got := m.Tokens(text); got != tokens {
		b.Fatalf("the text has %d tokens, want %d", got, tokens)
	}
	embedded(b, m, text)
	from := processorTime(b)
	for b.Loop() {
		embedded(b, m, text)
	}
	used := processorTime(b) - from
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
	b.ReportMetric(float64(b.N)/used.Seconds(), "texts/cpu-s")
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// What a model takes of the machine's memory from its opening to its end.
func BenchmarkEmbedMemory(b *testing.B) {
	for _, kind := range kinds() {
		path := written(b, tinybert.New(tinybert.MiniLM(kind.Type)))
		b.Run(kind.name, func(b *testing.B) {
			debug.FreeOSMemory()
			before := resident(b)
			var opened, closed float64
			for b.Loop() {
				m, err := Open(path, nil)
				if err != nil {
					b.Fatal(err)
				}
				embedded(b, m, strings.Repeat("note ", 300))
				opened = resident(b)
				m.Close()
				debug.FreeOSMemory()
				closed = resident(b)
			}
			b.ReportMetric(before, "MB-before")
			b.ReportMetric(opened, "MB-open")
			b.ReportMetric(closed, "MB-closed")
		})
	}
}

// resident is the memory of this process that is not on disk, in units of 10^6 bytes.
func resident(b *testing.B) float64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(statm), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / 1e6
}
