package engine_test

import (
	"slices"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
)

// As of an earlier moment everything reads as it did then: which memories there
// were, what they said, how they ranked, and their scores.
func TestAsOfAnEarlierMoment(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	pie := do(t, e, op.Save, &op.SaveRequest{Content: "apple pie", Project: "baking"}).Memory
	tart := do(t, e, op.Save, &op.SaveRequest{Content: "apple tart with apples"}).Memory
	do(t, e, op.Show, &op.ShowRequest{ID: string(pie.ID)})
	then := clock.Now()
	list := do(t, e, op.List, &op.ListRequest{})
	found := do(t, e, op.Search, &op.SearchRequest{Query: "apple", Track: new(false)})

	clock.advance(48 * time.Hour)
	do(t, e, op.Edit, &op.EditRequest{ID: string(pie.ID), Content: new("cherry pie"), Project: new("cooking")})
	do(t, e, op.Forget, &op.ForgetRequest{ID: string(tart.ID)})
	do(t, e, op.Save, &op.SaveRequest{Content: "apple cake"})

	got := do(t, e, op.List, &op.ListRequest{AsOf: then})
	if !slices.Equal(contents(got.Memories), contents(list.Memories)) || got.Memories[0].Score != list.Memories[0].Score || !got.AsOf.At.Equal(then.Truncate(time.Millisecond)) {
		t.Errorf("the list as of then is %+v, want %+v", got, list)
	}
	hits := do(t, e, op.Search, &op.SearchRequest{Query: "apple", AsOf: then})
	if len(hits.Hits) != 2 || hits.Hits[0].Content != found.Hits[0].Content || hits.Hits[0].Rank != found.Hits[0].Rank || hits.Loading != nil {
		t.Errorf("the search as of then found %+v, want %+v", hits.Hits, found.Hits)
	}
	shown := do(t, e, op.Show, &op.ShowRequest{ID: string(tart.ID), AsOf: then}).Memory
	if shown.Content != tart.Content || shown.Rev != tart.Rev {
		t.Errorf("the forgotten memory as of then is %+v, want %+v", shown, tart)
	}
	if now := look(t, e, pie.ID); now.UseCount != 1 || now.AccessCount != 1 {
		t.Errorf("looking back counted, and not the edit alone: %d uses, %d accesses", now.UseCount, now.AccessCount)
	}
	do(t, e, op.List, &op.ListRequest{AsOf: then, Filter: op.Filter{Collection: "knowledge", Project: "baking"}})
	for _, wrong := range []struct {
		req  op.ListRequest
		code memory.Code
		says string
	}{
		{op.ListRequest{AsOf: then, Filter: op.Filter{Collection: "elsewhere"}}, memory.NotFound, "to select all collections, use all"},
		{op.ListRequest{AsOf: clock.Now().Add(time.Hour)}, memory.Invalid, "is in the future"},
		{op.ListRequest{AsOf: then.Add(-time.Hour)}, memory.Invalid, "before the first record"},
	} {
		wantCode(t, refused(t, e, op.List, &wrong.req), wrong.code, wrong.says)
	}
}
