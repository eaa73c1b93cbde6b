package memories_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/engine/memories"
	_ "emberd/internal/testutil/racescale"
	"emberd/memory"
)

// TestAPageIsACutOfTheOrder compares the bounded selection with sorting all.
func TestAPageIsACutOfTheOrder(t *testing.T) {
	t.Parallel()
	type scored struct {
		Value float64
		ID    memory.ID
	}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) scored {
			var raw [16]byte
			raw[15] = rapid.Byte().Draw(t, "id")
			return scored{float64(rapid.IntRange(-3, 3).Draw(t, "value")), memory.IDFromBytes(raw)}
		}), 0, 40, func(s scored) memory.ID { return s.ID }).Draw(t, "all")
		limit := rapid.IntRange(1, 7).Draw(t, "limit")

		var got []scored
		for cursor := ""; ; {
			p, err := core.NewPage[scored](cursor, memories.ByUses, limit, memories.DefaultPage, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range all {
				p.Add(s.Value, s.ID, s)
			}
			items, next := p.Finish()
			if got = append(got, items...); next == "" {
				break
			}
			cursor = next
		}
		want := slices.SortedFunc(slices.Values(all), func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(b.ID, a.ID))
		})
		if !slices.Equal(got, want) {
			t.Fatalf("pages of %d give %v, want %v", limit, got, want)
		}
	})
}
