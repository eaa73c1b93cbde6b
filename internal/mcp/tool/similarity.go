package tool

import "emberd/op"

// Similarity returns how similar a hit of an explained search is to its query, 0 to 1, and by what
// it was compared: by vectors, or without them by the share of the query's words that it has.
func Similarity(h *op.Hit) (alike float64, by string) {
	if h.Explain.Similarity != nil {
		return *h.Explain.Similarity, op.ComparedByVectors
	}
	return h.Explain.Share, op.ComparedByWords
}
