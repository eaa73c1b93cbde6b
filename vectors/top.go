package vectors

import "iter"

// hit is a row and its rounded cosine.
type hit struct {
	score float32
	row   int32
}

// before is the order of nearness, for rows as near that of their numbers.
func (h hit) before(o hit) bool {
	return h.score > o.score || h.score == o.score && h.row < o.row
}

// hits are rows in no order.
type hits []hit

// descending yields the hits in order, so many at a time, and uses them up. It makes a heap of
// them, so that a caller that wants few pays for one pass, and one that wants all for a sort. What is
// yielded is good until the next.
func (h hits) descending(n int) iter.Seq[[]hit] {
	return func(yield func([]hit) bool) {
		for i := len(h)/2 - 1; i >= 0; i-- {
			h.sink(i)
		}
		part := make([]hit, 0, n)
		for len(h) > 0 {
			part = append(part, h[0])
			last := len(h) - 1
			h[0] = h[last]
			h = h[:last]
			h.sink(0)
			if len(part) == n || len(h) == 0 {
				if !yield(part) {
					return
				}
				part = part[:0]
			}
		}
	}
}

// sink brings the hit at i below those that come before it.
func (h hits) sink(i int) {
	for {
		first := 2*i + 1
		if first >= len(h) {
			return
		}
		if right := first + 1; right < len(h) && h[right].before(h[first]) {
			first = right
		}
		if !h[first].before(h[i]) {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
