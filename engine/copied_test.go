package engine_test

import (
	"testing"

	"emberd/op"
)

// A note that somebody copied the text of a memory into comes after the memory, however old that is.
func TestAMemoryIsShownAboveItsCopyInANote(t *testing.T) {
	t.Parallel()
	const text = "The staging database listens on port 5433 behind a proxy"
	d := &desk{t: t, house: promotingHouse(t, map[string]string{"Copy.md": text + "\n", "Staging database port.md": "# Ports\n\n" + text + "\n",
		"Staging.md": "The staging database is slow"})}
	d.start()
	id := do(t, d.Engine, op.Save, &op.SaveRequest{Content: text, CreatedAt: d.daysAgo(700)}).Memory.ID
	for i := range 5 {
		save(t, d.Engine, "The kettle leaks at seam "+string(rune('a'+i)))
	}
	for _, explain := range []bool{false, true} {
		res := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "staging database port", Explain: explain, Track: new(false)})
		if len(res.Hits) != 4 || res.Hits[0].Memory == nil || res.Hits[0].ID != id || res.Hits[0].Rank != res.Hits[1].Rank {
			t.Fatalf("found %+v", res.Hits)
		}
		if x := res.Hits[0].Explain; explain != (x != nil) || x != nil && x.Copy != "Staging database port.md" {
			t.Errorf("its rank is explained by %+v", x)
		}
		for i, h := range res.Hits[1:] {
			if h.Memory != nil || h.Rank > res.Hits[i].Rank {
				t.Errorf("result %d is %+v", i+1, h)
			}
		}
	}
	path := do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(id), Force: true}).Path
	d.batch([]string{path}, nil)
	if hits := searchFor(t, d.Engine, "staging database port"); len(hits) != 4 || hits[0].ID != id || hits[0].Note == nil || hits[0].Note.Path != path {
		t.Errorf("with a note of its own: %+v", hits)
	}
}
