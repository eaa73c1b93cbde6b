package dedupe_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"emberd/internal/dedupe"
	"emberd/internal/text/analysis"
	"emberd/memory"
)

func TestContradictions(t *testing.T) {
	t.Parallel()
	var items []dedupe.Item
	for i, s := range []string{
		"The staging database of the web shop in Leith listens on port 5432.",
		"The staging database of the web shop in Leith listens on port 5433.",
		"The staging database of the web shop in Leith listens on port 5433, mostly.",
		"The tide turns at six in the harbour of Oban.",
	} {
		items = append(items, dedupe.Item{ID: memory.ID(rune('a' + i)), Text: s})
	}
	items = append(items, dedupe.Item{ID: "e", Group: "other", Text: items[0].Text + " Or on port 5439."})
	report := func(int, int) {}
	opt := dedupe.Options{Threshold: 0.83}
	found, err := dedupe.Contradictions(t.Context(), analysis.New(), items, opt, 0.6, report)
	var got []string
	for _, c := range found {
		got = append(got, fmt.Sprintf("%s-%s %s", items[c.A].ID, items[c.B].ID, c.Finding.Why))
	}
	slices.Sort(got)
	if want := []string{"a-b 5432 against 5433", "a-c 5432 against 5433"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("found %q, %v, want %q", got, err, want)
	}
	if found, err := dedupe.Contradictions(t.Context(), analysis.New(), items, dedupe.Options{Threshold: 1}, 1,
		report); err != nil || len(found) > 0 {
		t.Errorf("of equal texts alone found %v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dedupe.Contradictions(ctx, analysis.New(), items, opt, 0.6, report); err == nil {
		t.Error("a canceled search goes on")
	}
}
