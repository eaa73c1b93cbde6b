package table

import (
	"bytes"
	"iter"

	"emberd/memory"
	"emberd/stm/record"
)

// mayReview is false for nearly every row that has no review item.
func mayReview(r *Row) bool { return mayHave(r, record.HasReview, `"`+record.ReviewPrefix) }

// ReviewItems are the items that a memory is the first of, in the order of their keys. The
// caller owns them.
func (r *Row) ReviewItems() []memory.ReviewItem {
	if !mayReview(r) {
		return nil
	}
	var out []memory.ReviewItem
	_ = record.EachField(r.JSON(), func(name, value []byte) bool { // it was walked before
		if !bytes.HasPrefix(name, []byte(record.ReviewPrefix)) {
			return true
		}
		if item, err := record.ParseReviewItem(string(name), value); err == nil {
			out = append(out, item)
		}
		return true
	})
	return out
}

// ReviewItems yields the items of live memories as they are stored, in no order. It looks
// at every memory.
func (m *MemorySet) ReviewItems() iter.Seq[memory.ReviewItem] {
	return func(yield func(memory.ReviewItem) bool) {
		for r := range m.Rows() {
			for _, item := range r.ReviewItems() {
				if !yield(item) {
					return
				}
			}
		}
	}
}
