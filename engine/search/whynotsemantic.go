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
		return ", and what it means is not known yet"
	}
	return fmt.Sprintf(", and what it means is not near (%.2f, and %.2f is)", s.NormalizedCosine(cosine), minNear)
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
		fix = "search for " + quoted(own[:1]) + ", which it has"
	}
	d.addCause(op.WhyLimit, fix, "it contains none of the words, and %d other results are more similar", MaxNear)
}
