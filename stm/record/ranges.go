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

// AddAll inserts all numbers of another set.
func (r *Ranges) AddAll(other *Ranges) {
	for _, s := range other.Spans {
		r.Add(s[0], s[1])
	}
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

// Gaps returns the intervals from 1 to last that are not in r.
func (r *Ranges) Gaps(last uint64) (gaps [][2]uint64) {
	next := uint64(1)
	for _, s := range r.Spans {
		if s[0] > next && next <= last {
			gaps = append(gaps, [2]uint64{next, min(s[0]-1, last)})
		}
		next = max(next, s[1]+1)
	}
	if next <= last {
		gaps = append(gaps, [2]uint64{next, last})
	}
	return gaps
}

// Within returns what of r lies from lo to hi.
func (r *Ranges) Within(lo, hi uint64) (parts [][2]uint64) {
	for _, s := range r.Spans {
		if from, to := max(s[0], lo), min(s[1], hi); from <= to {
			parts = append(parts, [2]uint64{from, to})
		}
	}
	return parts
}

// Lacking returns the numbers from 1 to last that are not in r, and those of them that are in
// another set.
func (r *Ranges) Lacking(last uint64, other *Ranges) (gone, covered Ranges) {
	for _, gap := range r.Gaps(last) {
		gone.Add(gap[0], gap[1])
		for _, part := range other.Within(gap[0], gap[1]) {
			covered.Add(part[0], part[1])
		}
	}
	return gone, covered
}

// Count is how many numbers r has.
func (r *Ranges) Count() (n int) {
	for _, s := range r.Spans {
		n += int(s[1] - s[0] + 1)
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
