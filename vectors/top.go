package vectors

import (
	"cmp"
	"iter"
	"slices"
)

// hit is a row and its rounded cosine.
type hit struct {
	score float32
	row   int
}

// order is that of nearness, for rows as near that of their numbers.
func (h hit) order(o hit) int {
	return cmp.Or(cmp.Compare(o.score, h.score), cmp.Compare(h.row, o.row))
}

// descending yields all rows in order, the first n, then in parts that grow. Each part costs one
// pass over the scores, and the parts grow fast, so that a caller who wants few rows pays for no
// more, and one who finds use for hardly any has them sorted in the end.
func descending(scores []float32, n int) iter.Seq[[]hit] {
	return func(yield func([]hit) bool) {
		var last *hit
		for left := len(scores); left > 0; n *= 8 {
			if n > len(scores)/16 {
				n = left
			}
			part := top(scores, last, n)
			if !yield(part) {
				return
			}
			last, left = &part[len(part)-1], left-len(part)
		}
	}
}

// top is the first n rows in order after last, if there is one.
func top(scores []float32, last *hit, n int) []hit {
	part := make([]hit, 0, min(2*n, len(scores)))
	var least *hit // of n, which what is still to come must precede
	for row, score := range scores {
		if least != nil && score <= least.score {
			continue
		}
		h := hit{score, row}
		if last != nil && h.order(*last) <= 0 {
			continue
		}
		if part = append(part, h); len(part) == 2*n {
			part, least = best(part, n)
		}
	}
	slices.SortFunc(part, hit.order)
	return part[:min(n, len(part))]
}

// best keeps the first n.
func best(part []hit, n int) ([]hit, *hit) {
	slices.SortFunc(part, hit.order)
	least := part[n-1]
	return part[:n], &least
}
