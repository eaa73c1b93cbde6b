package engine_test

import (
	"slices"
	"testing"

	"emberd/memory"
	"emberd/op"
)

func TestWhatWasBegunGoesOn(t *testing.T) {
	t.Parallel()
	h := vaultHouse(t, map[string]string{"Projects/Garden.md": "g", "Projects/Gate.md": "g", "Home.md": "h"})
	e := h.following(t)
	first := do(t, e, op.Save, &op.SaveRequest{Content: "Water  the\nroses", Tags: []string{"garden", "water"}, Project: "house", CreatedAt: h.daysAgo(1), LastUsed: h.daysAgo(1)}).Memory
	second := save(t, e, "Mow", "garden", "gras")
	tests := map[string]struct {
		req   op.CompleteRequest
		want  []string
		total int
	}{
		"tags, the commonest first": {op.CompleteRequest{What: op.CompleteTags}, []string{"garden", "gras", "water"}, 3},
		"tags that begin so":        {op.CompleteRequest{What: op.CompleteTags, Prefix: "Gr"}, []string{"gras"}, 1},
		"no more than asked for":    {op.CompleteRequest{What: op.CompleteTags, Limit: 1}, []string{"garden"}, 3},
		"ids, the newest first":     {op.CompleteRequest{What: op.CompleteIDs}, []string{second.ID.Short(), first.ID.Short()}, 2},
		"ids by their end":          {op.CompleteRequest{What: op.CompleteIDs, Prefix: first.ID.Short()[:6]}, []string{first.ID.Short()}, 1},
		"ids by their beginning":    {op.CompleteRequest{What: op.CompleteIDs, Prefix: string(first.ID)[:20]}, []string{string(first.ID)}, 1},
		"projects":                  {op.CompleteRequest{What: op.CompleteProjects, Prefix: "h"}, []string{"house"}, 1},
		"paths by their beginning":  {op.CompleteRequest{What: op.CompletePaths, Prefix: "projects/ga"}, []string{"Projects/Garden.md", "Projects/Gate.md"}, 2},
		"paths by the name":         {op.CompleteRequest{What: op.CompletePaths, Prefix: "gard"}, []string{"Projects/Garden.md"}, 1},
		"nothing":                   {op.CompleteRequest{What: op.CompletePaths, Prefix: "x"}, nil, 0},
	}
	for name, c := range tests {
		got := do(t, e, op.Complete, &c.req)
		var values []string
		for _, v := range got.Values {
			values = append(values, v.Value)
		}
		if !slices.Equal(values, c.want) || got.Total != c.total {
			t.Errorf("%s: %v of %d, want %v of %d", name, values, got.Total, c.want, c.total)
		}
	}
	ids := do(t, e, op.Complete, &op.CompleteRequest{What: op.CompleteIDs}).Values
	if ids[1].Text != "Water the roses" || ids[1].ID != first.ID {
		t.Errorf("an id comes with %+v", ids[1])
	}
	wantCode(t, refused(t, e, op.Complete, &op.CompleteRequest{What: "verbs"}), memory.Invalid, `use tags, ids, projects, paths or entities`)
	wantCode(t, refused(t, e, op.Complete, &op.CompleteRequest{What: op.CompleteTags, Limit: 101}), memory.Invalid, "limit 101 is out of range (")
}
