package memories_test

import (
	"testing"

	"emberd/engine/memories"
	"emberd/op"
)

// Case C85 of CortexGraph's behaviour.
func TestPagesOfTwentyFive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total, page, pages int
		more               bool
	}{{25, 3, 3, false}, {25, 2, 3, true}, {25, 10, 3, false}, {0, 1, 0, false}, {20, 2, 2, false}} {
		want := op.Pagination{Page: c.page, PageSize: 10, TotalCount: c.total, TotalPages: c.pages, HasMore: c.more}
		if got := memories.Paginate(c.total, c.page, 10); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
