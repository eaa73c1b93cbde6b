package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/op"
)

func TestSorts(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	old := do(t, e, op.Save, &op.SaveRequest{Content: "old", CreatedAt: clock.daysAgo(9), LastUsed: clock.daysAgo(1), UseCount: 2}).Memory
	do(t, e, op.Save, &op.SaveRequest{Content: "used", CreatedAt: clock.daysAgo(5), LastUsed: clock.Now(), UseCount: 1})
	do(t, e, op.Save, &op.SaveRequest{Content: "new", CreatedAt: clock.daysAgo(2), LastUsed: clock.daysAgo(2), Strength: new(2.0)})
	do(t, e, op.Search, &op.SearchRequest{Query: "old"})
	for sort, want := range map[string][]string{
		"":         {"new", "used", "old"},
		"created":  {"new", "used", "old"},
		"used":     {"used", "old", "new"},
		"uses":     {"old", "used", "new"},
		"score":    {"used", "old", "new"},
		"accesses": {"old", "new", "used"},
	} {
		got := contents(do(t, e, op.List, &op.ListRequest{Sort: sort}).Memories)
		if sort == "accesses" { // the other two tie and come by id
			got, want = got[:1], want[:1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("sort %q gives %q, want %q", sort, got, want)
		}
	}
	if got := look(t, e, old.ID).UseCount; got != 2 {
		t.Errorf("listing counted as use: %d", got)
	}
}

// TestListContains asks for texts letter by letter, as no search does.
func TestListContains(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	do(t, e, op.Save, &op.SaveRequest{Content: "the Lovelace engine - a first"})
	do(t, e, op.Save, &op.SaveRequest{Content: "東京は日本の首都", Type: "Capital City"})
	for text, want := range map[string][]string{
		"OVEL":      {"the Lovelace engine - a first"},
		"e - a":     {"the Lovelace engine - a first"},
		"本の首":       {"東京は日本の首都"},
		"al ci":     {"東京は日本の首都"},
		"enginee":   {},
		"\"content": {},
	} {
		if got := contents(do(t, e, op.List, &op.ListRequest{Contains: text, Filter: op.Filter{Collection: "knowledge"}}).Memories); !slices.Equal(got, want) {
			t.Errorf("contains %q gives %q, want %q", text, got, want)
		}
	}
	if _, err := op.List.Call(t.Context(), e, &op.ListRequest{Contains: strings.Repeat("x", memory.MaxQueryBytes+1)}); memory.CodeOf(err) != memory.TooLarge {
		t.Errorf("4 KiB and one byte: %v, want that it is too large", err)
	}
}

// TestPagesTogetherAreTheList turns the pages of a list while memories are
// saved in between: what was there at the start is met once and in order.
func TestPagesTogetherAreTheList(t *testing.T) {
	t.Parallel()
	e, clock := newEngine(t)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		project := fmt.Sprint("project ", run)
		add := func(label string) memory.ID {
			created := clock.daysAgo(rapid.Float64Range(0, 3).Draw(t, label))
			res, err := op.Save.Call(t.Context(), e, &op.SaveRequest{
				Content: label, Project: project, CreatedAt: created, LastUsed: created, UseCount: rapid.Int64Range(0, 2).Draw(t, "uses"),
			})
			if err != nil {
				t.Fatal(err)
			}
			return res.Memory.ID
		}
		var there []memory.ID
		for range rapid.IntRange(0, 12).Draw(t, "memories") {
			there = append(there, add("there"))
		}
		req := &op.ListRequest{
			Filter: op.Filter{Project: project},
			Sort:   rapid.SampledFrom([]string{"created", "used", "score", "uses", "accesses"}).Draw(t, "sort"),
			Limit:  100,
		}
		whole, err := op.List.Call(t.Context(), e, req)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []memory.ID
		for _, m := range whole.Memories {
			want = append(want, m.ID)
		}
		req.Limit = rapid.IntRange(1, 5).Draw(t, "limit")
		for {
			page, err := op.List.Call(t.Context(), e, req)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range page.Memories {
				if slices.Contains(there, m.ID) {
					got = append(got, m.ID)
				}
			}
			if req.Cursor = page.NextCursor; req.Cursor == "" {
				break
			}
			clock.advance(time.Minute) // all scores sink
			if rapid.Bool().Draw(t, "insert") {
				add("inserted")
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages give %v, want %v", got, want)
		}
	})
}

// A section is found in whatever case and white space somebody wrote it, and leaves notes out.
func TestListASection(t *testing.T) {
	t.Parallel()
	h := promotingHouse(t, map[string]string{"Tide.md": "the tide turns\n"})
	e := h.open(t)
	for text, section := range map[string]string{"the tide turns at six": "People  & entities", "the tide is high": "Recipes", "the tide is low": ""} {
		do(t, e, op.Save, &op.SaveRequest{Content: text, Section: section})
	}
	for section, want := range map[string][]string{"people & Entities": {"the tide turns at six"}, " recipes ": {"the tide is high"}, "recipe": nil} {
		if got := contents(do(t, e, op.List, &op.ListRequest{Filter: op.Filter{Section: section}}).Memories); !slices.Equal(got, want) {
			t.Errorf("section %q lists %q, want %q", section, got, want)
		}
		res := do(t, e, op.Search, &op.SearchRequest{Query: "tide", Filter: op.Filter{Section: section}})
		if got := hitContents(res.Hits); !slices.Equal(got, want) {
			t.Errorf("section %q finds %q, want %q", section, got, want)
		}
	}
}
