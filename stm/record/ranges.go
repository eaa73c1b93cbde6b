package record

import (
	"slices"
)

// Ranges is a set of numbers as sorted, disjoint intervals.
type Ranges struct{ Spans [][2]uint64 }

// Add inserts lo to hi and reports whether any of it is new.
func (r *Ranges) Add(lo, hi uint64) bool {
	if n := len(r.Spans); n > 0 && r.Spans[n-1][1]+1 == lo {
		r.Spans[n-1][1] = hi
		return true
	}
	i, _ := slices.BinarySearchFunc(r.Spans, lo, func(s [2]uint64, lo uint64) int {
		switch {
		case s[1] < lo:
			return -1
		case s[0] > lo:
			return 1
		}
		return 0
	})
	if i < len(r.Spans) && r.Spans[i][0] <= lo && hi <= r.Spans[i][1] {
		return false
	}
	r.Spans = slices.Insert(r.Spans, i, [2]uint64{lo, hi})
	r.join(i)
	if i > 0 {
		r.join(i - 1)
	}
	return true
}

// join merges into span i those after it that touch or overlap it.
func (r *Ranges) join(i int) {
	for i+1 < len(r.Spans) && r.Spans[i+1][0] <= r.Spans[i][1]+1 {
		r.Spans[i][0] = min(r.Spans[i][0], r.Spans[i+1][0])
		r.Spans[i][1] = max(r.Spans[i][1], r.Spans[i+1][1])
		r.Spans = slices.Delete(r.Spans, i+1, i+2)
	}
}

func (r *Ranges) Last() uint64 {
	if len(r.Spans) == 0 {
		return 0
	}
	return r.Spans[len(r.Spans)-1][1]
}

// Missing counts the numbers between the first and the last that are in
// neither set.
func (r *Ranges) Missing(given Ranges) int {
	all := Ranges{Spans: slices.Clone(r.Spans)}
	for _, s := range given.Spans {
		all.Add(s[0], s[1])
	}
	n := 0
	for i := 1; i < len(all.Spans); i++ {
		n += int(all.Spans[i][0] - all.Spans[i-1][1] - 1)
	}
	return n
}

// Unbroken returns the highest number up to which, from 1, none is missing.
func (r *Ranges) Unbroken() uint64 {
	for _, s := range r.Spans {
		if s[0] <= 1 {
			return s[1]
		}
	}
	return 0
}
