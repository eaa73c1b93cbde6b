package engine_test

import (
	"testing"

	"emberd/op"
)

// What agents ask to learn whether something is known.
func TestNothingFitsIsAnAnswer(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	for _, query := range []string{"zzqx nothing", "zzqx kettle", "tankre", "submarine night cook"} {
		for _, scope := range []string{"all", "notes"} {
			res := inScope(t, e, scope, query)
			if len(res.Results) != 0 || res.Total != 0 || res.Message == "" {
				t.Errorf("%q in %s finds %q of %d, message %q", query, scope, lines(res.Results), res.Total, res.Message)
			}
		}
	}
	if near := inScope(t, e, "notes", "zzqx kettle").Nearest; len(near) != 1 || nameOf(near[0]) != "Kettle.md" {
		t.Errorf("nearest are %q, want the kettle", lines(near))
	}
	for query, least := range map[string]float64{"kettle": 0.9, "who is the pilot of the tanker": 0.9, "kettel leaks": 0.6} {
		res := inScope(t, e, "notes", query)
		if len(res.Results) == 0 || res.Results[0].Relevance < least || len(res.Nearest) != 0 {
			t.Errorf("%q finds %q, nearest %q; want something at least %.1f relevant", query, lines(res.Results),
				lines(res.Nearest), least)
		}
	}
}

// A search shows the nearest, and says that they are no more than that.
func TestRelevanceMeansTheSameForBothTiers(t *testing.T) {
	t.Parallel()
	_, e := pilots(t)
	ask := func(query string) *op.SearchResult { return do(t, e, op.Search, &op.SearchRequest{Query: query}) }
	if res := ask("zzqx kettle"); !res.Nearest || len(res.Hits) != 1 || res.Hits[0].Relevance >= 0.5 {
		t.Errorf("an unknown word beside a known one: nearest %v, %+v", res.Nearest, res.Hits)
	}
	res := ask("pilot tanker")
	if res.Nearest || len(res.Hits) < 2 || res.Hits[0].Relevance != 1 || res.Hits[1].Relevance != 1 {
		t.Errorf("a memory and a note that have both words: nearest %v, %+v", res.Nearest, res.Hits)
	}
	if res := ask("tag:tanker"); res.Nearest || res.Hits[0].Relevance != 1 {
		t.Errorf("what only operators select: %+v", res.Hits)
	}
	if res := ask("authentik pil"); len(res.Hits) == 0 || !res.Nearest {
		t.Errorf("the beginning of a word beside an unknown one: %+v", res)
	}
}
