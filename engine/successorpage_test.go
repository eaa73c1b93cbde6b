package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

// chained are as many memories that all match "harbour", each of which says more or less
// about it, and what took the place of every tenth.
func chained(t testing.TB, e *engine.Engine, size int) (ids []memory.ID, by map[memory.ID]memory.ID) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 5))
	words := []string{"harbour", "boat", "tide", "pier", "lantern", "rope", "anchor", "gull", "keel", "mast"}
	for i := range size {
		var text strings.Builder
		fmt.Fprintf(&text, "harbour note %d", i)
		for range r.IntN(30) {
			text.WriteString(" " + words[r.IntN(len(words))])
		}
		ids = append(ids, save(t, e, text.String()).ID)
	}
	by = make(map[memory.ID]memory.ID)
	for range size / 10 {
		old, next := ids[r.IntN(size)], ids[r.IntN(size)]
		if _, err := op.Edit.Call(t.Context(), e, &op.EditRequest{ID: string(next), Supersedes: []string{string(old)}}); err == nil {
			by[old] = next
		}
	}
	return ids, by
}

// Whatever the pages, together they are the whole, in which nothing is twice, what was
// replaced says so and stands below what took its place.
func TestThePagesOfAnAnswerWithSuccessors(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	const size = 1000
	_, by := chained(t, e, size)
	ask := func(limit, offset int) []op.Hit {
		return do(t, e, op.Search, &op.SearchRequest{Query: "harbour boat lantern", Limit: limit, Offset: offset, Track: new(false)}).Hits
	}
	for _, limit := range []int{40, memory.MaxResults} {
		var all []op.Hit
		for offset := 0; offset < size; offset += limit {
			all = append(all, ask(limit, offset)...)
		}
		place := make(map[memory.ID]int)
		for i, h := range all {
			if at, twice := place[h.ID]; twice {
				t.Fatalf("limit %d: %s is hit %d and %d", limit, h.ID, at, i)
			}
			place[h.ID] = i
		}
		if len(all) != size {
			t.Errorf("limit %d: %d hits, want %d", limit, len(all), size)
		}
		for old, next := range by {
			if place[old] < place[next] {
				t.Errorf("limit %d: %s is hit %d, above its successor, hit %d", limit, old, place[old], place[next])
			}
			if all[place[old]].Superseded == nil {
				t.Errorf("limit %d: hit %d does not say that it is superseded", limit, place[old])
			}
		}
	}
}
