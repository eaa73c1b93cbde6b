package text

import "math"

// IDF returns the inverse document frequency of a term that df of docs documents contain, in
// the form of BM25 that is never negative: ln(1 + (docs - df + 0.5) / (df + 0.5)).
func IDF(docs, df int) float64 {
	return math.Log1p((float64(max(docs-df, 0)) + 0.5) / (float64(df) + 0.5))
}
