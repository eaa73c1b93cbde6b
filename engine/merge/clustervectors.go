package merge

import (
	"context"

	"emberd/internal/dedupe"
)

// ClusterVectors returns the embeddings for a clustering, nil to compare by words only.
func (e *Merge) ClusterVectors(ctx context.Context, g *ClusterInput) *dedupe.Vectors {
	on := e.Semantic.Meaning.ServingRack()
	if !on.TrustedForMerge() {
		return nil
	}
	whole := make(map[int]bool) // by index, whether the model reads the whole text
	return &dedupe.Vectors{
		Of: func(i int) ([]float32, bool) {
			reads, known := whole[i]
			if !known {
				reads = on.FitsModel(ctx, g.Items[i].Text)
				whole[i] = reads
			}
			if !reads {
				return nil, false
			}
			return on.Vector(g.Items[i].ID, e.Semantic.Meaning.Digest)
		},
		Similarity: on.Grade.Similarity,
	}
}
