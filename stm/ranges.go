package stm

import "slices"

// ranges is a set of numbers as sorted, disjoint intervals.
type ranges struct{ spans [][2]uint64 }

// add inserts lo to hi and reports whether any of it is new.
func (r *ranges) add(lo, hi uint64) bool {
	if n := len(r.spans); n > 0 && r.spans[n-1][1]+1 == lo {
		r.spans[n-1][1] = hi
		return true
	}
	i, _ := slices.BinarySearchFunc(r.spans, lo, func(s [2]uint64, lo uint64) int {
		switch {
		case s[1] < lo:
			return -1
		case s[0] > lo:
			return 1
		}
		return 0
	})
	if i < len(r.spans) && r.spans[i][0] <= lo && hi <= r.spans[i][1] {
		return false
	}
	r.spans = slices.Insert(r.spans, i, [2]uint64{lo, hi})
	r.join(i)
	if i > 0 {
		r.join(i - 1)
	}
	return true
}

// join merges into span i those after it that touch or overlap it.
func (r *ranges) join(i int) {
	for i+1 < len(r.spans) && r.spans[i+1][0] <= r.spans[i][1]+1 {
		r.spans[i][0] = min(r.spans[i][0], r.spans[i+1][0])
		r.spans[i][1] = max(r.spans[i][1], r.spans[i+1][1])
		r.spans = slices.Delete(r.spans, i+1, i+2)
	}
}

func (r *ranges) last() uint64 {
	if len(r.spans) == 0 {
		return 0
	}
	return r.spans[len(r.spans)-1][1]
}

// missing counts the numbers between the first and the last that are in
// neither set.
func (r *ranges) missing(given ranges) int {
	all := ranges{spans: slices.Clone(r.spans)}
	for _, s := range given.spans {
		all.add(s[0], s[1])
	}
	n := 0
	for i := 1; i < len(all.spans); i++ {
		n += int(all.spans[i][0] - all.spans[i-1][1] - 1)
	}
	return n
}

// unbroken returns the highest number up to which, from 1, none is missing.
func (r *ranges) unbroken() uint64 {
	for _, s := range r.spans {
		if s[0] <= 1 {
			return s[1]
		}
	}
	return 0
}
