package engine_test

import (
	"testing"

	"emberd/embedding"
	"emberd/engine/semantic"
	"emberd/op"
)

// Who lists hashed words asks for help with spelling, and gets it without another setting.
func TestHashedWordsFindWhatIsMisspelled(t *testing.T) {
	t.Parallel()
	h := meant(t, newHouse(t), embedding.Options{Providers: []string{embedding.Words}})
	h.Options.Meaning.Weight = -1
	e := h.running(t)
	kettle := save(t, e, "The gasket of the kettle leaks.")
	save(t, e, "The tide turns at six in the harbour.")
	covered(t, e)
	res := do(t, e, op.Search, &op.SearchRequest{Query: "kettel gaskett harbour", Explain: true})
	if res.Meaning == nil || res.Meaning.Weight != semantic.LexicalWeight || res.Meaning.Provider != embedding.Words {
		t.Fatalf("meaning %+v, want hashed words at a quarter", res.Meaning)
	}
	for _, hit := range res.Hits {
		if hit.ID == kettle.ID && hit.Explain.Meaning != nil {
			return
		}
	}
	t.Errorf("the misspelled words do not find the memory: %q", hitContents(res.Hits))
}
