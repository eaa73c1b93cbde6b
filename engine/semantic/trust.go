package semantic

import (
	"context"

	"emberd/embedding"
)

// If the embeddings can be trusted to decide, memories are compared by embeddings. A memory
// without one, or with a text longer than the model reads, is compared by words. Both
// similarities have the same scale. Ranking weighs embeddings by the trust from the
// calibration; whether a text is known, reinforced or merged is not a matter of degree, so it
// needs [decisiveTrust].
//
// An embedding is that of a whole text. A text as long as the other one is compared by
// embedding only: of judged pairs, the higher of both similarities at 0.85 is wrong more often
// than the embedding. For a longer text, the higher of two counts: the sentences nearest by words, or
// the whole text by embedding. Words find the sentence with the same wording, and the
// embedding a sentence with other words. Cosines are no better than words at texts with
// different numbers, names or negations, so all checks for distinct texts apply with
// embeddings too.

// Soon returns a context with a deadline for counting tokens while a caller waits: the runtime
// may be busy or hang. What is not counted by then is estimated.
func (m *Embeddings) Soon(ctx context.Context) (context.Context, context.CancelFunc) {
	if m == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, m.Wait)
}

// decisiveTrust is the minimum trust from the calibration for embeddings to decide whether
// texts say the same.
const decisiveTrust = 0.5

// TrustedForMerge reports whether the embeddings can be trusted to decide, whatever their
// weight in ranking. It is false for a nil index, and for static embeddings, which do not know
// the order of words.
func (s *VectorIndex) TrustedForMerge() bool {
	return s != nil && s.Identity.Provider != embedding.Static && s.Grade.Trust() >= decisiveTrust
}

// FitsModel reports whether the model reads all of a text.
func (s *VectorIndex) FitsModel(ctx context.Context, text string) bool {
	return s.isShort(text) || s.embedder.Tokens(ctx, text) <= s.MostTokens()
}
