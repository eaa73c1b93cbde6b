package eval

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// WithoutHalf takes every other conversation out of a set and returns at most so many questions about
// what is there, and as many about what is not. The seed chooses.
func (s *Set) WithoutHalf(most int, seed uint64) (present, absent []Question) {
	groups := map[string]bool{}
	for _, d := range s.Docs {
		groups[d.Group] = true
	}
	for i, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name] = i%2 == 0
	}
	s.Docs = slices.DeleteFunc(slices.Clone(s.Docs), func(d Doc) bool { return !groups[d.Group] })
	draw := rand.New(rand.NewPCG(seed, 3))
	for _, i := range draw.Perm(len(s.Questions)) {
		to := &absent
		if groups[s.Questions[i].Group] {
			to = &present
		}
		if len(*to) < most {
			*to = append(*to, s.Questions[i])
		}
	}
	return present, absent
}
