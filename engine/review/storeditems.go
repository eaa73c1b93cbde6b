package review

import (
	"iter"
	"slices"
	"sync"

	"emberd/memory"
)

// storedItems are the items of all memories as of a revision, so that who asks again does not look at every
// memory. Any number of goroutines may use it.
type storedItems struct {
	mu       sync.Mutex
	known    bool
	revision uint64
	items    []memory.ReviewItem
}

// at returns the items as of a revision, which nobody may change. A change is visible before it counts as a revision.
func (s *storedItems) at(revision uint64, read iter.Seq[memory.ReviewItem]) []memory.ReviewItem {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known || s.revision != revision {
		s.items, s.revision, s.known = slices.Collect(read), revision, true
	}
	return s.items
}

// stored yields the items of live memories as they are stored, in no order; the caller owns them. It looks at
// every memory if one changed or was used since the last call.
func (e *Review) stored() iter.Seq[memory.ReviewItem] {
	if e.Grant != nil { // a caller that sees some memories sees their items alone
		return e.Stm.ReviewItems()
	}
	return func(yield func(memory.ReviewItem) bool) {
		for _, item := range e.kept.at(e.Revision.Load(), e.Stm.ReviewItems()) {
			item.Labels, item.MemoryIDs = slices.Clone(item.Labels), slices.Clone(item.MemoryIDs)
			item.Texts = slices.Clone(item.Texts)
			if !yield(item) {
				return
			}
		}
	}
}
