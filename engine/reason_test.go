package engine_test

import (
	"testing"

	"emberd/op"
)

func TestAHitWithoutTheWordsSaysWhy(t *testing.T) {
	t.Parallel()
	e := vaultHouse(t, map[string]string{
		"Compost.md": "Leaves rot here in a year.\n",
		"Bills.md":   "Bills are paid on Fridays by the treasurer.\n",
	}).following(t)
	save(t, e, "the kubernetes cluster restarts at night", "ops")
	for query, want := range map[string]string{
		"kuberntes night ":   "", // it has a word as it was typed
		"kuberntes":          "corrected: kuberntes, here kubernetes",
		"restarting":         "other form: restarts",
		"cluster":            "",
		"cluste":             "",
		"compost":            "has this name",
		"ops ":               "matches another part of the text, or the tags, context or properties",
		`"at night"`:         "",
		"tag:ops":            "",
		"billing treasurers": "other form: bills",
	} {
		hits := do(t, e, op.Search, &op.SearchRequest{Query: query}).Hits
		if len(hits) == 0 || hits[0].Why != want {
			t.Errorf("%q finds %q because of %q, want %q", query, names(hits), hits[0].Why, want)
		}
	}
}
