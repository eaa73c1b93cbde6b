// Package metrics counts what happens in a process and writes it as Prometheus reads it:
// the text format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
//
// [Counts], [Histogram] and [Histograms] are ready as zero values, can be used by any number of
// goroutines, and cost an addition or two. One goroutine writes an [Exposition] for each
// request; the packages that count describe their metrics there.
//
// A label has few values, all known to the program: never an ID, a path or a text of a caller.
package metrics

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// bounds are the upper ends of the buckets of every histogram, in seconds: from an operation
// in memory to one that reads everything.
var bounds = [...]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// Histogram counts times by how long they are.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Uint64 // each without those below; the last has no end
	sum     atomic.Int64                   // nanoseconds
}

// Observe counts a time; one below 0, as of a clock that was set, counts as 0.
func (h *Histogram) Observe(took time.Duration) {
	took = max(0, took)
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.buckets[i].Add(1)
	h.sum.Add(int64(took))
}

// Label is the value of one label, or of two of them.
type Label [2]string

// By makes a Label.
func By(value string, more ...string) Label {
	l := Label{value}
	copy(l[1:], more)
	return l
}

// Counts counts things by label.
type Counts struct{ all labelled[atomic.Uint64] }

// Add counts n things of a label more.
func (c *Counts) Add(l Label, n uint64) { c.all.get(l).Add(n) }

// Histograms counts times by label.
type Histograms struct{ all labelled[Histogram] }

// Observe counts a time of a label.
func (h *Histograms) Observe(l Label, took time.Duration) { h.all.get(l).Observe(took) }

// labelled has a T for each label that was used.
type labelled[T any] struct {
	mu sync.RWMutex // guards by
	by map[Label]*T
}

func (m *labelled[T]) get(l Label) *T {
	m.mu.RLock()
	t := m.by[l]
	m.mu.RUnlock()
	if t != nil {
		return t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t = m.by[l]; t == nil {
		if m.by == nil {
			m.by = make(map[Label]*T)
		}
		t = new(T)
		m.by[l] = t
	}
	return t
}

// sorted yields what there is, in the order of its labels.
func (m *labelled[T]) sorted() iter.Seq2[Label, *T] {
	m.mu.RLock()
	by := maps.Clone(m.by)
	m.mu.RUnlock()
	return func(yield func(Label, *T) bool) {
		labels := slices.SortedFunc(maps.Keys(by), func(a, b Label) int {
			return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
		})
		for _, l := range labels {
			if !yield(l, by[l]) {
				return
			}
		}
	}
}
