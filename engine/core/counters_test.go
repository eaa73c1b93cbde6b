package core_test

import (
	"testing"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/internal/contain"
)

// An embedder that panics costs the texts that it was called with.
func TestAPanicOfTheEmbedderIsAnError(t *testing.T) {
	var v core.Counters
	if _, err := v.Embed(t.Context(), nil, embedding.Passage, []string{"a"}); contain.Of(err) == nil {
		t.Errorf("an embedder that panics returns %v", err)
	}
}
