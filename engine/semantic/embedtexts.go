package semantic

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"emberd/embedding"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
)

// EmbedTexts returns the embeddings of texts and stores nothing.
func (e *Semantic) EmbedTexts(ctx context.Context, req *op.EmbedRequest) (*op.EmbedResult, error) {
	as, err := checkEmbedRequest(req)
	if err != nil {
		return nil, err
	}
	if e.Meaning == nil {
		return nil, memory.Errorf(memory.Unavailable, "emberd computes no embeddings: %s", e.offReason())
	}
	by := e.Meaning.Embedder
	res := &op.EmbedResult{}
	if res.Vectors, err = e.Vitals.Embed(ctx, by, as, req.Texts); err != nil { // all by one model
		e.Meaning.outdated(err)
		return nil, memory.Errorf(memory.Unavailable, "embed texts: %w", err)
	}
	status := by.Status()
	for _, text := range req.Texts {
		res.Tokens = append(res.Tokens, by.Tokens(ctx, text))
	}
	res.Provider, res.Model, res.Dim = status.Provider, status.Model, status.Dim
	res.MaxTokens = cmp.Or(status.MaxTokens, by.MaxTokens())
	if len(req.Texts) > 1 {
		res.Cosines = cosines(res.Vectors)
		res.Meanings = e.Meaning.meanings(res.Cosines)
	}
	return res, nil
}

// checkEmbedRequest checks a request and returns the purpose of its embeddings.
func checkEmbedRequest(req *op.EmbedRequest) (embedding.Purpose, error) {
	if n := len(req.Texts); n < 1 || n > op.MostEmbedTexts {
		return 0, memory.Errorf(memory.Invalid, "number of texts %d is out of range (1 to %d)", n,
			op.MostEmbedTexts).At("texts")
	}
	for i, text := range req.Texts {
		if len(text) > op.MostEmbedBytes {
			return 0, memory.Errorf(memory.Invalid, "too many bytes in text %d: %d (limit %d); shorten the text", i+1,
				len(text), op.MostEmbedBytes).
				At(fmt.Sprintf("texts[%d]", i))
		}
	}
	switch req.As {
	case op.EmbedQuery:
		return embedding.Query, nil
	case op.EmbedPassage, "":
		return embedding.Claim, nil // like a passage, but without waiting for others
	}
	return 0, memory.Errorf(memory.Invalid, "invalid as %q; use %s or %s", req.As, op.EmbedQuery,
		op.EmbedPassage).At("as")
}

// cosines returns the cosines of all pairs, with six digits.
func cosines(of [][]float32) [][]float64 {
	out := make([][]float64, len(of))
	for i, a := range of {
		out[i] = make([]float64, len(of))
		for j, b := range of {
			near, _ := similarity.Cosine(a, b) // 0 without an embedding
			out[i][j] = math.Round(near*1e6) / 1e6
		}
	}
	return out
}

// meanings normalizes cosines by the calibration of the model.
func (m *Embeddings) meanings(of [][]float64) [][]float64 {
	m.Mu.Lock()
	var grade embedding.Calibration
	if m.Building != nil {
		grade = m.Building.Grade
	}
	m.Mu.Unlock()
	if grade.Trust() == 0 {
		return nil
	}
	out := make([][]float64, len(of))
	for i, row := range of {
		for _, cosine := range row {
			out[i] = append(out[i], min(1, grade.Meaning(cosine)))
		}
	}
	return out
}
