package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// quantile of samples, which it sorts; q from 0 to 1, nearest rank.
func quantile[T int | float64 | time.Duration](samples []T, q float64) T {
	slices.Sort(samples)
	return samples[min(len(samples)-1, int(q*float64(len(samples))))]
}

func median[T int | float64 | time.Duration](samples []T) T { return quantile(samples, 0.5) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// onlyMetrics drops the time of an iteration where iterations are rounds of
// several things.
func onlyMetrics(b *testing.B) { b.ReportMetric(0, "ns/op") }

// procField is a numeric field of a file like /proc/PID/status.
func procField(tb testing.TB, file, name string) int {
	tb.Helper()
	n, err := readProcField(file, name)
	if errors.Is(err, os.ErrNotExist) && runtime.GOOS != "linux" {
		tb.Skipf("/proc, where Linux tells of cannot read processes,: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func readProcField(file, name string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if fields := strings.Fields(value); key == name && len(fields) > 0 {
			return strconv.Atoi(fields[0])
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}

// residentMB is the physical memory that the daemon holds, in millions of bytes.
func (d *daemon) residentMB(tb testing.TB) float64 {
	tb.Helper()
	return float64(procField(tb, fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid), "VmRSS")) * 1024 / 1e6
}

// wakeups is how often a thread of the daemon has been given a processor and
// has let go of it.
func (d *daemon) wakeups(tb testing.TB) int {
	tb.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", d.cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		if runtime.GOOS != "linux" {
			tb.Skip("/proc, where Linux tells the threads of a process, is missing")
		}
		tb.Fatalf("the daemon has no threads: %v", err)
	}
	n := 0
	for _, file := range threads {
		for _, field := range []string{"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"} {
			switches, err := readProcField(file, field)
			if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) { // a thread that has ended
				tb.Fatal(err)
			}
			n += switches
		}
	}
	return n
}

func TestQuantile(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = 100 - i
	}
	for q, want := range map[float64]int{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := quantile(hundred, q); got != want {
			t.Errorf("quantile %v of 1 to 100 is %d, want %d", q, got, want)
		}
	}
}
