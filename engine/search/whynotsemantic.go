package search

import (
	"context"
	"fmt"

	"emberd/engine/semantic"
	"emberd/memory"
	"emberd/op"
)

// similarityText describes how far the item is from the query by embedding, "" without embeddings.
func (d *exclusion) similarityText(q *parsedQuery) string {
	if q.embedding == nil {
		return ""
	}
	s := q.embedding()
	if s.QueryEmbedding == nil {
		return ""
	}
	cosine, known := d.cosine(s.QueryEmbedding)
	if !known {
		return ", and emberd has not computed the embedding of the text yet"
	}
	return fmt.Sprintf(
		", and the embedding of the text is not similar enough to the query (similarity %.2f, minimum %.2f)",
		s.NormalizedCosine(cosine), minNear)
}

func (d *exclusion) cosine(s *semantic.QueryEmbedding) (float64, bool) {
	if d.row != nil {
		return s.CosineOfMemory(d.row.ID())
	}
	return s.CosineOfNote(d.path)
}

// addCrowdedOut records that the item matches by embedding alone, but others are nearer.
func (d *exclusion) addCrowdedOut(ctx context.Context) {
	fix := fmt.Sprintf("raise the limit to %d (--limit %d)", memory.MaxResults, memory.MaxResults)
	if own := d.rarestWords(ctx); len(own) > 0 {
		fix = "search for " + quoted(own[:1]) + ", which the text contains"
	}
	d.addCause(op.WhyLimit, fix,
		"the text contains none of the words of the query, and %d other texts are more similar to the query", MaxNear)
}
