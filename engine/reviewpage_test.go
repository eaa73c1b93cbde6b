package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"emberd/memory"
	"emberd/op"
)

// A page continues after the last item of the previous page, also if that item was closed in
// the meantime.
func TestReviewItemsInPages(t *testing.T) {
	t.Parallel()
	e, c := newEngine(t)
	const items = 7
	for i := range items {
		id := string(save(t, e, fmt.Sprintf("Gate %d is painted in colour %d", i, i*i)).ID)
		do(t, e, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{id}, Action: "look at the gate",
			Urgency: []string{op.UrgencyLow, op.UrgencyHigh, op.UrgencyMedium}[i%3]})
		c.advance(1)
	}
	all := do(t, e, op.ReviewList, &op.ReviewListRequest{})
	if len(all.Items) != items || all.NextCursor != "" {
		t.Fatalf("one page has %d items and the cursor %q", len(all.Items), all.NextCursor)
	}
	var got []memory.ReviewItem
	for req := (&op.ReviewListRequest{Limit: 3}); ; {
		page := do(t, e, op.ReviewList, req)
		if page.Total != items-len(got)/3 {
			t.Errorf("after %d items the total is %d", len(got), page.Total)
		}
		got = append(got, page.Items...)
		if page.NextCursor == "" {
			break
		}
		do(t, e, op.ReviewClose, &op.ReviewCloseRequest{ID: got[len(got)-1].ID})
		req.Cursor = page.NextCursor
	}
	if len(got) != items {
		t.Fatalf("the pages have %d items, want %d", len(got), items)
	}
	for i := range got {
		if got[i].ID != all.Items[i].ID {
			t.Errorf("item %d is %s, want %s", i, got[i].ID, all.Items[i].ID)
		}
	}
	_, err := op.ReviewList.Call(t.Context(), e, &op.ReviewListRequest{Cursor: "e30"})
	if e, ok := errors.AsType[*memory.Error](err); !ok || e.Code != memory.Invalid || e.Field != "cursor" {
		t.Errorf("a bad cursor is answered with %v", err)
	}
}
