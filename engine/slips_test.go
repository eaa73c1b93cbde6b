package engine_test

import (
	"fmt"
	"reflect"
	"testing"

	"emberd/op"
)

// TestASlipBeforeTheEndingIsCorrected has slips that make the stemmer take off another ending.
func TestASlipBeforeTheEndingIsCorrected(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for _, text := range []string{"The replication lag is measured hourly", "The certificate of the gateway expires in June",
		"The gateway certificate", "The measured replication", "a relation of mine", "the related tyres"} {
		save(t, e, text)
	}
	for query, want := range map[string]op.Respelling{
		"lag replcation ":     {Word: "replcation", Terms: []string{"replic"}, Meant: []string{"replication"}},
		"lag repliction ":     {Word: "repliction", Terms: []string{"replic"}, Meant: []string{"replication"}},
		"gateway certficate ": {Word: "certficate", Terms: []string{"certif"}, Meant: []string{"certificate"}},
		"replcation ":         {Word: "replcation", Terms: []string{"replic"}, Meant: []string{"replication"}},
	} {
		res := do(t, e, op.Search, &op.SearchRequest{Query: query})
		if !reflect.DeepEqual(res.Respelled, []op.Respelling{want}) || len(res.Hits) == 0 {
			t.Errorf("%q is corrected to %+v and finds %q, want %+v", query, res.Respelled, names(res.Hits), want)
		}
	}
}

func TestTheCountIsALowerBoundWhereWordsAreLeftOut(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for i := range 1005 {
		save(t, e, fmt.Sprintf("case%d", i))
	}
	for query, want := range map[string]bool{"cas": true, "case10": false, "case10 ": false} {
		if res := do(t, e, op.Search, &op.SearchRequest{Query: query}); res.AtLeast != want || res.Total == 0 {
			t.Errorf("%q has %d hits, a lower bound: %v, want %v", query, res.Total, res.AtLeast, want)
		}
	}
}

func TestANoteThatIsMeantByItsNameShowsItsText(t *testing.T) {
	t.Parallel()
	h := withThesaurus(t, vaultHouse(t, map[string]string{
		"Automobile.md": "# \n\nHammers and nails.\n", "Automobile/Tools.md": "Saws and planes.\n",
	}))
	e := h.following(t)
	covered(t, e)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "car"})
	if len(res.Hits) == 0 {
		t.Fatal("nothing is found by its name")
	}
	for _, hit := range res.Hits {
		if hit.Snippet.Text == "" {
			t.Errorf("%s is shown without a text", hit.Note.Path)
		}
	}
}
